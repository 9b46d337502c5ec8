#!/bin/sh
# Installs the server of this checkout, and nothing else, into a folder that is empty or not there:
#
#     sh deploy/install.sh /opt/pixgate
#
# Everybody may read what it installs, whoever may read the checkout: another user runs it. What fails leaves no trace, and
# what is killed no more than the folder .new, which the next installation removes.
# The guide (docs/guides/operator.md) and the Dockerfile call this; scripts/test/deploy runs it.
set -eu
umask 022

if [ $# -ne 1 ]; then
  echo "Usage: sh deploy/install.sh FOLDER" >&2
  exit 2
fi
# On Linux Node.js comes with the packages of the checkout.
refuse_without_node() {
  copy='npm ci && sudo install node_modules/node-linux-*/bin/node /usr/local/bin'
  echo "  Debian, Ubuntu: sudo apt-get install npm && $copy" >&2
  echo "  Red Hat, Fedora: sudo dnf install npm && $copy" >&2
  echo "  macOS: brew install node" >&2
  exit 2
}
for program in node npm; do
  if ! command -v "$program" >/dev/null; then
    echo "pixgate: there is no $program in the path: install Node.js 24 or newer and npm, and start again." >&2
    refuse_without_node
  fi
done
source=$(cd "$(dirname "$0")/.." && pwd)
node "$source/packages/server/bin/node-version.cjs" || refuse_without_node
if [ -e "$1" ] && [ -n "$(ls -A "$1" | grep -vx '\.new')" ]; then
  echo "pixgate: $1 is not empty: install each version into a folder of its own." >&2
  exit 2
fi

mkdir -p "$1"
target=$(cd "$1" && pwd)
new="$target/.new"
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$new/bin"
cd "$source"
cp package.json package-lock.json LICENSE "$new"
# npm compares the lock file with the manifests of all packages, also of those that it does not install.
for manifest in packages/*/package.json; do
  mkdir -p "$new/$(dirname "$manifest")"
  cp "$manifest" "$new/$manifest"
done
cp -R packages/brcode/src "$new/packages/brcode"
cp -R packages/spec/src "$new/packages/spec"
cp -R packages/server/bin packages/server/src packages/server/schema "$new/packages/server"
[ ! -d packages/server/migrations ] || cp -R packages/server/migrations "$new/packages/server"
# Built by npm ci of the checkout.
[ ! -d packages/console/dist ] || cp -R packages/console/dist "$new/packages/server/console"
[ ! -d packages/docs/dist ] || cp -R packages/docs/dist "$new/packages/server/docs"
cp deploy/pixgate "$new/bin"

cd "$new"
npm ci --omit=dev --ignore-scripts --no-audit --no-fund -w @pixgate/server
chmod 755 bin/pixgate
chmod -R a+rX "$target"
# The program comes last: where it is, all is.
for name in *; do
  [ "$name" = bin ] || mv "$name" "$target"
done
mv bin "$target"
