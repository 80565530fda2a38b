# The catalog and the worker in one image; the command says which: `serve` (default) or `worker`.
# docs/run-for-a-team.md explains the settings, docker-compose.yml runs it with everything it needs.

FROM node:24.22.3-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY apps/catalog/package.json apps/catalog/
COPY apps/cli/package.json apps/cli/
COPY apps/worker/package.json apps/worker/
COPY packages/database/package.json packages/database/
COPY packages/iceberg/package.json packages/iceberg/
COPY packages/storage/package.json packages/storage/
COPY packages/testing/package.json packages/testing/
COPY packages/timelake/package.json packages/timelake/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.22.3-bookworm-slim
ENV NODE_ENV=production NODE_NO_WARNINGS=1 TIMELAKE_HOST=0.0.0.0 TIMELAKE_PORT=8181 TIMELAKE_DATA_DIR=/var/lib/timelake
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY migrations migrations
COPY openapi openapi
COPY packages packages
COPY apps apps
# Working files of jobs, and everything else when there is no PostgreSQL and no object store. The second one keeps an empty
# embedded database ready.
RUN mkdir -p /var/lib/timelake node_modules/.cache/timelake \
  && chown node:node /var/lib/timelake node_modules/.cache/timelake
USER node
VOLUME /var/lib/timelake
EXPOSE 8181
# A stopping process lets begun requests and jobs end: give it longer than TIMELAKE_DRAIN_TIMEOUT.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.TIMELAKE_PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "apps/cli/bin/timelake-image.mjs"]
CMD ["serve"]
