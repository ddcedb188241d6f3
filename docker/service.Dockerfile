# The image of Gantry's own services: gateway, worker, broker and the one-shot migration. What runs is chosen by the command.
# Works on node:24-bookworm-slim, and on any glibc Debian with docker/toolchain/ filled: bin/node and lib/node_modules/npm, for the build only.
# Classic builder only: no RUN --mount, no heredocs.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS base
# Every stage carries it, so that what a build leaves behind is known to be ours.
ARG IMAGE_LABEL=service
LABEL gantry.image=${IMAGE_LABEL}
# Certificate authorities that the building host trusts beyond the public ones; there may be none.
COPY docker/sandbox/ca/ /usr/local/share/ca-certificates/
RUN set -eux; \
    if ! command -v update-ca-certificates; then \
        apt-get update; apt-get install -y --no-install-recommends ca-certificates; rm -rf /var/lib/apt/lists/*; \
    fi; \
    update-ca-certificates
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
WORKDIR /app

FROM base AS toolchain
COPY docker/toolchain/ /usr/local/
RUN if [ -d /usr/local/lib/node_modules/npm ] && ! command -v npm; then \
        ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm; \
    fi; \
    node --version; npm --version
ARG NPM_CONFIG_REGISTRY=https://registry.npmjs.org/
COPY package.json package-lock.json ./
COPY tools/npm-empty ./tools/npm-empty

# These two change with the lock file alone. Scripts are not needed: nothing here has a native part to build.
FROM toolchain AS all-packages
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

FROM all-packages AS packages
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

# claude, checked against the hash pinned in tools/ops/engine/pinned-tools.ts.
FROM packages AS sandbox-tools
COPY tools ./tools
RUN node_modules/.bin/node tools/fetch-claude.ts /opt/sandbox-tools/claude

FROM all-packages AS build
COPY . .
RUN node_modules/.bin/node tools/build.ts

FROM base
ENV NODE_ENV=production
COPY --from=packages /app/node_modules ./node_modules
COPY --from=sandbox-tools /opt/sandbox-tools/ /opt/sandbox-tools/
COPY docker/worker-entrypoint.sh docker/prepare.mjs ./docker/
COPY package.json ./
COPY prisma/migrations ./prisma/migrations
COPY --from=build /app/dist ./dist
# Sandboxes run on the Node that the services run on.
RUN set -eux; \
    ln -s /app/node_modules/.bin/node /usr/local/bin/gantry-node; \
    cp --dereference node_modules/.bin/node /opt/sandbox-tools/node; \
    cp dist/sandboxd/sandboxd.cjs /opt/sandbox-tools/sandboxd.cjs; \
    cd /opt/sandbox-tools; \
    chmod 0555 node claude sandboxd.cjs; \
    cat node claude sandboxd.cjs | sha256sum | cut -d ' ' -f 1 > /opt/sandbox-tools.sha256
CMD ["gantry-node", "--enable-source-maps", "dist/apps/gateway/src/main.js"]
