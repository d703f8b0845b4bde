#!/usr/bin/env bash
# Builds every binary for one platform and packs it as a release does: scripts/release-archive.sh PLATFORM OUT_DIR
#
# PLATFORM is linux-x64, linux-arm64, macos-x64 or macos-arm64. The archive is OUT_DIR/daybook-PLATFORM.tar.gz, its digest
# stands beside it. The same tree gives the same archive: names are sorted, times and owners are fixed. On Linux the
# binaries are static, with musl: they run on any distribution, and in a container that has nothing.
set -euo pipefail

platform=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
case $platform in
    linux-x64) target=x86_64-unknown-linux-musl ;;
    linux-arm64) target=aarch64-unknown-linux-musl ;;
    macos-x64) target=x86_64-apple-darwin ;;
    macos-arm64) target=aarch64-apple-darwin ;;
    *) echo "no release is made for $platform" >&2; exit 2 ;;
esac
case $platform in
    linux-*)
        command -v musl-gcc > /dev/null || { echo "a static build needs musl-gcc (package musl-tools)" >&2; exit 1; }
        export "CC_${target//-/_}=musl-gcc"
        ;;
esac
# A machine that has no standard library for musl, and cannot get one, links with its own C library, as statically.
if [ "$platform" = linux-x64 ] && [ "${DAYBOOK_STATIC:-musl}" = gnu ]; then
    target=x86_64-unknown-linux-gnu
    export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static"
fi
# Which commit `daybook init` pins, where a release is built from one.
if [ -n "${GITHUB_SHA:-}" ]; then export DAYBOOK_BUILD_COMMIT=$GITHUB_SHA DAYBOOK_BUILD_REPOSITORY=$GITHUB_REPOSITORY; fi
cargo build --quiet --release --locked --workspace --bins --target "$target"
binaries=${CARGO_TARGET_DIR:-target}/$target/release

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=(daybook daybook-agent daybook-detect daybook-maintenance-apply daybook-maintenance-plan daybook-merge daybook-persist
    daybook-safe-outputs)
for name in "${names[@]}"; do install -m 755 "$binaries/$name" "$work/$name"; done
cp LICENSE-APACHE LICENSE-MIT "$work/"
chmod 644 "$work"/LICENSE-*
python3 - "$work" "$out/daybook-$platform.tar.gz" << 'PYTHON'
import gzip, os, sys, tarfile
folder, archive = sys.argv[1:]
with open(archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
    for name in sorted(os.listdir(folder)):
        entry = tar.gettarinfo(os.path.join(folder, name), name)
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        with open(os.path.join(folder, name), "rb") as content:
            tar.addfile(entry, content)
PYTHON
cd "$out"
python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest() + "  " + sys.argv[1])' \
    "daybook-$platform.tar.gz" > "daybook-$platform.tar.gz.sha256"
cat "daybook-$platform.tar.gz.sha256"
