#!/usr/bin/env bash
# Fetches the archive of a release, refuses other bytes than the pinned ones, and unpacks it.
set -euo pipefail

fail() {
    echo "::error title=$2::$3"
    exit "$1"
}

case "$RUNNER_OS-$RUNNER_ARCH" in
    Linux-X64) platform=linux-x64 ;;
    Linux-ARM64) platform=linux-arm64 ;;
    macOS-X64) platform=macos-x64 ;;
    macOS-ARM64) platform=macos-arm64 ;;
    *) fail 2 "no release for this runner" "releases are made for Linux and macOS on x64 and arm64" ;;
esac

# What is given wins over what this action pins, and only as a pair.
tag=$DAYBOOK_TAG want=$DAYBOOK_SHA256
if [ -z "$tag" ] && [ -z "$want" ]; then
    pins=$DAYBOOK_ACTION/action/pins
    tag=$(sed -n 's/^tag //p' "$pins")
    want=$(sed -n "s/^$platform //p" "$pins")
fi
if ! [[ $tag =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ && $want =~ ^[0-9a-f]{64}$ ]]; then
    fail 2 "no release is pinned" "this version of the action pins no release for $platform; give tag and sha256"
fi

bin=$RUNNER_TEMP/daybook/bin archive=$RUNNER_TEMP/daybook/tools.tar.gz
rm -rf "$bin"
mkdir -p "$bin"
from=${DAYBOOK_ARCHIVE:-$GITHUB_SERVER_URL/$DAYBOOK_REPOSITORY/releases/download/$tag/daybook-$platform.tar.gz}
case $from in
    /*) cp "$from" "$archive" ;;
    *) curl --fail --silent --show-error --location --retry 3 --output "$archive" -- "$from" ;;
esac
sum=(sha256sum)
if [ "$RUNNER_OS" = macOS ]; then sum=(shasum --algorithm 256); fi
if [ "$("${sum[@]}" < "$archive" | cut -d ' ' -f 1)" != "$want" ]; then
    rm -f "$archive"
    fail 3 "wrong bytes" "the archive is not the one that is pinned; nothing of it was run"
fi
tar -xzf "$archive" -C "$bin" -o
rm -f "$archive"
echo "bin=$bin" >> "$GITHUB_OUTPUT"
