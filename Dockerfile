# The server, as deploy/install.sh installs it:
#
#     npm ci && docker build -t pixgate .    # npm ci builds the console
#     sudo chown 1000 pixgate.env && sudo chmod 600 pixgate.env
#     docker run --init --read-only -v "$PWD/pixgate.env:/opt/pixgate/.env:ro" -p 127.0.0.1:8080:8080 pixgate all
#
# The server reads its settings from that file, as the user `node`, who is 1000: --env-file would hand over their quotes, and
# show them to whoever inspects the container. --init: a signal that comes before the server listens for it ends it all the same.
# It listens at 0.0.0.0 in there: name your proxy in PIXGATE_TRUST_PROXY as it is seen from inside, or see the guide.
# No secret is needed to build it and none is in it. It writes nothing: run it with a read-only root. Its base is named by
# version: pin the digest that you have tried.

FROM node:24-bookworm-slim AS build
WORKDIR /checkout
COPY . .
RUN sh deploy/install.sh /opt/pixgate

FROM node:24-bookworm-slim
COPY --from=build /opt/pixgate /opt/pixgate
WORKDIR /opt/pixgate
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
# A worker opens a port where PIXGATE_WORKER_PORT is set: set PORT to the same for it, as compose.yaml does.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/pixgate/bin/pixgate"]
CMD ["all"]
