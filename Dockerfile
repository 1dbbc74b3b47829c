# The server in an image that holds nothing else: its binary and the libraries that this is linked to.
# Queries are checked against .sqlx, so building needs no database.

# What the last stage takes the server from: the stage below, or an image that holds in /image what
# containers/gather.sh has put there.
ARG SERVER=build

FROM rust:1.98.0-slim-bookworm AS build
WORKDIR /build
# Names of functions are left out: what a panic says names its file and line anyway.
# Functions that were compiled to the same are there once, where the linker is Rust's own. Addresses that are
# moved at the start are told in short, which glibc reads from 2.36 on: that of the image does.
ENV SQLX_OFFLINE=true CARGO_PROFILE_RELEASE_STRIP=symbols \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clink-arg=-Wl,--icf=all -Clink-arg=-Wl,-z,pack-relative-relocs"
# What others have made, in a layer of its own, which is made anew when Cargo.toml or Cargo.lock change:
# our own crates are empty in it.
COPY Cargo.toml Cargo.lock ./
COPY crates/engine/Cargo.toml crates/engine/
COPY crates/protocol/Cargo.toml crates/protocol/
COPY crates/shell/Cargo.toml crates/shell/
COPY benches benches
COPY crates/engine/benches crates/engine/benches
COPY crates/shell/examples crates/shell/examples
RUN mkdir -p src crates/engine/src crates/protocol/src crates/shell/src \
    && echo 'fn main() {}' >src/main.rs \
    && touch src/lib.rs crates/engine/src/lib.rs crates/protocol/src/lib.rs crates/shell/src/lib.rs \
    && cargo build --release --locked --bin bahay
COPY . .
# Cargo goes by the times of files, and those that came now may be older than the empty ones.
RUN find src crates build.rs -type f -exec touch {} + \
    && cargo build --release --locked --bin bahay \
    && containers/gather.sh target/release/bahay /image \
    && install -D -m 644 THIRD_PARTY.md /image/usr/share/doc/bahay/THIRD_PARTY.md

FROM ${SERVER} AS server

FROM scratch
COPY --from=server /image/ /
# There is nobody else in it, so a user needs no name.
USER 10001:10001
# Inside a container the outside decides which address is reachable.
ENV PATH=/usr/local/bin BAHAY_LISTEN=0.0.0.0:8080
EXPOSE 8080
# SIGTERM is what the server waits for to end in order.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["bahay", "healthcheck"]
ENTRYPOINT ["bahay"]
CMD ["serve"]
