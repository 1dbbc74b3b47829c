# The server in a small image. Queries are checked against .sqlx, so building needs no database.

FROM rust:1.98.0-slim-bookworm AS build
WORKDIR /build
ENV SQLX_OFFLINE=true
# What others have made, in a layer of its own, which is made anew when Cargo.toml or Cargo.lock change:
# our own crates are empty in it.
COPY Cargo.toml Cargo.lock ./
COPY crates/engine/Cargo.toml crates/engine/
COPY crates/shell/Cargo.toml crates/shell/
COPY benches benches
COPY crates/engine/benches crates/engine/benches
RUN mkdir -p src crates/engine/src crates/shell/src \
    && echo 'fn main() {}' >src/main.rs \
    && touch src/lib.rs crates/engine/src/lib.rs crates/shell/src/lib.rs \
    && cargo build --release --locked --bin bahay
COPY . .
# Cargo goes by the times of files, and those that came now may be older than the empty ones.
RUN find src crates build.rs -type f -exec touch {} + \
    && cargo build --release --locked --bin bahay

FROM debian:bookworm-20260803-slim
RUN useradd --system --user-group --uid 10001 --no-create-home --shell /usr/sbin/nologin bahay
COPY --from=build /build/target/release/bahay /usr/local/bin/bahay
COPY --from=build /build/THIRD_PARTY.md /usr/share/doc/bahay/
USER 10001:10001
# Inside a container the outside decides which address is reachable.
ENV BAHAY_LISTEN=0.0.0.0:8080
EXPOSE 8080
# SIGTERM is what the server waits for to end in order.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["bahay", "healthcheck"]
ENTRYPOINT ["bahay"]
CMD ["serve"]
