#!/usr/bin/env bash
# Makes report pages and uses them in headless Chromium: scripts/report.sh DAYBOOK [SCREENSHOTS].
#
# Chromium comes from the distribution where it is absent, its driver from npm into a folder that is removed at the end.
set -euo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
daybook=$1
screenshots=${2:-}
for tool in node npm; do
    command -v "$tool" > /dev/null || { echo "scripts/report.sh needs $tool" >&2; exit 1; }
done
if ! command -v chromium > /dev/null; then
    apt-get update --quiet=2
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends chromium
fi
chromium=$(command -v chromium)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
echo '{"private":true}' > "$work/package.json"
npm install --prefix "$work" --no-audit --no-fund --silent 'playwright-core@1'
for records in 200 100000; do
    node "$scripts/report/ledger.mjs" "$work/memory-$records" "$records"
    "$daybook" report "$work/memory-$records" --html "$work/report-$records.html"
    node "$scripts/report/check.mjs" "$work" "$chromium" "$work/report-$records.html" "$records" $([ "$records" = 200 ] && echo "$screenshots")
done
