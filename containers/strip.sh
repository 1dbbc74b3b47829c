#!/bin/sh
# strip.sh FOLDER empties the crates of the workspace in this folder, so that cargo builds only what they depend on.
# Benchmarks and examples stay, because cargo rejects manifests that name missing ones.
set -eu
cd "$1"
find crates -type f ! -name Cargo.toml ! -path '*/benches/*' ! -path '*/examples/*' -exec rm {} +
rm -rf src build.rs
for manifest in Cargo.toml crates/*/Cargo.toml; do
  folder=$(dirname "$manifest")/src
  mkdir -p "$folder"
  : >"$folder/lib.rs"
  if grep -q '^\[\[bin\]\]' "$manifest"; then echo 'fn main() {}' >"$folder/main.rs"; fi
done
