#!/usr/bin/env bash
# Writes what pins a release: scripts/release-pins.sh TAG OWNER/NAME ARCHIVES_DIR PINS_FILE ACTION_PINS_FILE
#
# ARCHIVES_DIR holds daybook-PLATFORM.tar.gz for at least one platform. PINS_FILE is what users take as their
# .github/daybook.pins.json; ACTION_PINS_FILE is action/pins of this repository.
set -euo pipefail

python3 - "$@" << 'PYTHON'
import hashlib, json, os, re, sys
tag, repository, folder, pins, action = sys.argv[1:]
if not re.fullmatch(r"v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?", tag):
    sys.exit(f"{tag!r} is no tag of a release")
archives = {}
for platform in ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64"]:
    path = os.path.join(folder, f"daybook-{platform}.tar.gz")
    if os.path.exists(path):
        with open(path, "rb") as archive:
            archives[platform] = hashlib.sha256(archive.read()).hexdigest()
if not archives:
    sys.exit(f"{folder} holds no archive")
daybook = {"repository": repository, "tag": tag, "archives": {name: f"sha256:{digest}" for name, digest in archives.items()}}
with open(pins, "w") as out:
    json.dump({"version": 1, "daybook": daybook, "actions": {}}, out, indent=2)
    out.write("\n")
with open(action, "w") as out:
    out.write("# The release that this version of the action runs: its tag, then each platform with the SHA-256 of its archive.\n")
    out.write("# Written by scripts/release-pins.sh.\n")
    out.write(f"tag {tag}\n")
    out.writelines(f"{name} {digest}\n" for name, digest in archives.items())
PYTHON
