#!/bin/sh
# gather.sh BINARY FOLDER creates a file system that contains only a program and its shared libraries: no
# shell, no package, no user.
set -eu
binary=$1 folder=$2
mkdir -p "$folder/usr/local/bin"
cp "$binary" "$folder/usr/local/bin/"
# Each line of ldd names a library or the loader and its path; the kernel's virtual library has no file.
ldd "$binary" | sed -n 's/^[^/]*\(\/[^ ]*\) .*/\1/p' | while read -r library; do
  mkdir -p "$folder$(dirname "$library")"
  cp -L "$library" "$folder$library"
done
