#!/bin/sh
# gather.sh BINARY FOLDER: puts a server into an otherwise empty file system, with the shared libraries
# that it was linked to, and nothing else: no shell, no package, no user.
set -eu
binary=$1 folder=$2
mkdir -p "$folder/usr/local/bin"
cp "$binary" "$folder/usr/local/bin/bahay"
# Each line names a library, or its loader, and where it was found; that of the kernel has no file.
ldd "$binary" | sed -n 's/^[^/]*\(\/[^ ]*\) .*/\1/p' | while read -r library; do
  mkdir -p "$folder$(dirname "$library")"
  cp -L "$library" "$folder$library"
done
