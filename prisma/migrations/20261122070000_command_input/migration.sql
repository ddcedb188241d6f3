-- Input of a command, numbered by its writers: what came is stored before it is acknowledged, and is written in order.
ALTER TABLE "run" ADD COLUMN "input_seq" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "run" ADD COLUMN "input_ended" BOOLEAN NOT NULL DEFAULT false;
-- A piece of input is kept once, whoever sends it again.
CREATE UNIQUE INDEX "intent_input_key" ON "intent" ("run_id", (("payload"->>'input_seq')::int)) WHERE "kind" = 'stdin';
