# One front door. Everything happens in tools/; `make help` lists the commands.
# YES=1 asks no questions. TO=file and FROM=file name the file of `make backup` and `make restore`. SERVICE=worker limits `make logs`, RAW=1 shows its lines as JSON.
# SEED=7 SCALE=10 ONLY=worker-massacre,zombie-fence shape `make chaos`.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help up down restart reset backup restore logs status test test-env build chaos

GANTRY = @command -v node >/dev/null || { echo "Node 20.19 or later is needed: https://nodejs.org" >&2; exit 1; }; \
	node tools/bootstrap.mjs
FLAGS = $(if $(YES),--yes)

help: ; $(GANTRY) --help
up down restart reset status test-env: ; $(GANTRY) $@ $(FLAGS)
logs: ; $(GANTRY) logs $(if $(SERVICE),--service $(SERVICE)) $(if $(RAW),--raw)
backup: ; $(GANTRY) backup $(FLAGS) $(if $(TO),--to $(TO))
restore: ; $(GANTRY) restore $(FLAGS) $(if $(FROM),--from $(FROM))
test: ; $(GANTRY) test $(FLAGS) $(if $(STAGES),-- $(STAGES))
build: ; $(GANTRY) build
chaos: ; $(GANTRY) chaos $(FLAGS) $(if $(SEED),--seed $(SEED)) $(if $(SCALE),--scale $(SCALE)) $(if $(ONLY),--only $(ONLY))
