# The server in an image that contains only its binary and its shared libraries. Queries are checked against
# .sqlx, so the build needs no database.

# The source of the server in the last stage: the stage below, or an image whose folder /image contains the
# output of containers/gather.sh.
ARG SERVER=build

FROM rust:1.98.0-slim-bookworm AS build
WORKDIR /build
# Symbols are stripped: panic messages contain file and line anyway. Identical functions are merged, where
# Rust's own linker is used. Relocations are stored in the compact form, which glibc reads from version 2.36
# on, the version of the image.
ENV SQLX_OFFLINE=true CARGO_PROFILE_RELEASE_STRIP=symbols \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clink-arg=-Wl,--icf=all -Clink-arg=-Wl,-z,pack-relative-relocs"
# A layer with the compiled dependencies, which is rebuilt when Cargo.toml or Cargo.lock change; the
# workspace's own crates are empty in it.
COPY Cargo.toml Cargo.lock ./
COPY crates/bots/Cargo.toml crates/bots/
COPY crates/engine/Cargo.toml crates/engine/
COPY crates/protocol/Cargo.toml crates/protocol/
COPY crates/shell/Cargo.toml crates/shell/
COPY benches benches
COPY crates/bots/benches crates/bots/benches
COPY crates/bots/examples crates/bots/examples
COPY crates/engine/benches crates/engine/benches
COPY crates/shell/examples crates/shell/examples
RUN mkdir -p src crates/bots/src crates/engine/src crates/protocol/src crates/shell/src \
    && echo 'fn main() {}' >src/main.rs \
    && touch src/lib.rs crates/bots/src/lib.rs crates/engine/src/lib.rs crates/protocol/src/lib.rs crates/shell/src/lib.rs \
    && cargo build --release --locked --bin bahay
COPY . .
# Cargo compares file times, and the copied files may be older than the empty ones.
RUN find src crates build.rs -type f -exec touch {} + \
    && cargo build --release --locked --bin bahay \
    && containers/gather.sh target/release/bahay /image \
    && install -D -m 644 THIRD_PARTY.md /image/usr/share/doc/bahay/THIRD_PARTY.md

FROM ${SERVER} AS server

FROM scratch
COPY --from=server /image/ /
# The image has no user database, so the user has no name.
USER 10001:10001
# Inside a container, the published ports determine the reachable addresses.
ENV PATH=/usr/local/bin BAHAY_LISTEN=0.0.0.0:8080
EXPOSE 8080
# The server shuts down in order on SIGTERM.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["bahay", "healthcheck"]
ENTRYPOINT ["bahay"]
CMD ["serve"]
