#!/bin/sh
# Starts the worker in a container. What sandboxes mount must lie on the engine's host, so the programs are laid out in the data folder, which is
# mounted at the same path on both sides: once per content, whole or not at all, and never changed.
set -eu
tools="${GANTRY_DATA_DIR:?}/tools/$(cat /opt/sandbox-tools.sha256)"
if [ ! -d "$tools" ]; then
    mkdir -p "$GANTRY_DATA_DIR/tools"
    draft="$(mktemp -d "$GANTRY_DATA_DIR/tools/.new-XXXXXX")"
    cp /opt/sandbox-tools/* "$draft/"
    chmod 0755 "$draft"
    # Another worker may have been faster: then its folder stays, and ours is dropped.
    mv -T "$draft" "$tools" 2>/dev/null || rm -rf "$draft"
fi
# Where projects lie unless the user says otherwise.
[ -n "${GANTRY_PROJECT_ROOTS:-}" ] || mkdir -p "$GANTRY_DATA_DIR/projects"
export SANDBOX_NODE_FILE="$tools/node" SANDBOX_CLAUDE_FILE="$tools/claude" SANDBOX_SANDBOXD_FILE="$tools/sandboxd.cjs"
exec gantry-node --enable-source-maps dist/apps/worker/src/main.js
