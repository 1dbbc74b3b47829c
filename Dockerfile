# syntax=docker/dockerfile:1
#
# The server in a small image. Queries are checked against .sqlx, so building needs no database.

FROM rust:1-slim-bookworm AS build
WORKDIR /build
ENV SQLX_OFFLINE=true
COPY . .
# The target folder is a cache and no part of the layer, so the binary is copied out of it.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --bin bahay \
    && cp target/release/bahay /usr/local/bin/bahay

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin bahay
COPY --from=build /usr/local/bin/bahay /usr/local/bin/bahay
USER 10001
# Inside a container the outside decides which address is reachable.
ENV BAHAY_LISTEN=0.0.0.0:8080
EXPOSE 8080
# SIGTERM is what the server waits for to end in order.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["bahay", "healthcheck"]
ENTRYPOINT ["bahay"]
CMD ["serve"]
