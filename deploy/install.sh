#!/bin/sh
# Installs the server of this checkout, and nothing else, into a folder that is empty or not there:
#
#     sh deploy/install.sh /opt/pixgate
#
# The guide (docs/guides/operator.md) and the Dockerfile call this; scripts/test/deploy runs it.
set -eu

if [ $# -ne 1 ]; then
  echo "Usage: sh deploy/install.sh FOLDER" >&2
  exit 2
fi
source=$(cd "$(dirname "$0")/.." && pwd)
node "$source/packages/server/bin/node-version.cjs"
if [ -e "$1" ] && [ -n "$(ls -A "$1")" ]; then
  echo "pixgate: $1 is not empty: install each version into a folder of its own." >&2
  exit 2
fi

mkdir -p "$1/bin"
target=$(cd "$1" && pwd)
cd "$source"
cp package.json package-lock.json LICENSE "$target"
# npm compares the lock file with the manifests of all packages, also of those that it does not install.
for manifest in packages/*/package.json; do
  mkdir -p "$target/$(dirname "$manifest")"
  cp "$manifest" "$target/$manifest"
done
cp -R packages/brcode/src "$target/packages/brcode"
cp -R packages/spec/src "$target/packages/spec"
cp -R packages/server/bin packages/server/src packages/server/migrations "$target/packages/server"
cp deploy/pixgate "$target/bin"
chmod 755 "$target/bin/pixgate"

cd "$target"
npm ci --omit=dev --ignore-scripts --no-audit --no-fund -w @pixgate/server
