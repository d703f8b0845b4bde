#!/usr/bin/env bash
# Installs each engine as a compiled workflow does and runs it as one does, up to the model: scripts/engines.sh [ENGINE…]
#
# The scripts are those of the compiled files in testdata/ok, byte for byte. There is no key that any service would take,
# and none is needed: what is asked here is whether the engine starts at the pinned version, asks nobody, reads its
# servers from the form that the script makes, connects to both, and puts a variable into the one that names it. A server
# that writes down what it is asked stands in for each.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
for tool in node npm python3 timeout; do
    command -v "$tool" > /dev/null || { echo "scripts/engines.sh needs $tool" >&2; exit 1; }
done
engines=("$@")
if [ "${#engines[@]}" = 0 ]; then engines=(claude copilot codex gemini); fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home npm_config_prefix=$work/npm npm_config_cache=$work/cache npm_config_update_notifier=false
export PATH=$work/npm/bin:$PATH
mkdir -p "$HOME" "$work/npm" "$work/project"
git -C "$work/project" init --quiet
node=$(command -v node)

# The script and the fixed variables of one step of a compiled file: step FILE NAME
step() {
    python3 - "$1" "$2" << 'PYTHON'
import re, shlex, sys
text, name = open(sys.argv[1]).read(), sys.argv[2]
step = text.split(f"      - name: {name}\n")[1].split("\n      - ")[0]
head, run = step.split("        run: |\n")
for key, value in re.findall(r"^          (DAYBOOK_ENGINE_\w+): (.*)$", head, re.M):
    value = value.strip("'\"")
    print(f"export {key}={shlex.quote(value)}")
print("\n".join(line[10:] for line in run.split("\n") if line.startswith("          ") or not line.strip()))
PYTHON
}

for engine in "${engines[@]}"; do
    file=$repository/testdata/ok/engine-$engine.lock.yml
    if [ "$engine" = claude ]; then file=$repository/testdata/ok/smallest.lock.yml; fi
    step "$file" "Install the agent" > "$work/install.sh"
    step "$file" "Run the agent" > "$work/run.sh"
    version=$(sed -n 's/^export DAYBOOK_ENGINE_VERSION=//p' "$work/install.sh")
    bash "$work/install.sh" > "$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }
    found=$("$engine" --version < /dev/null 2> /dev/null | grep --only-matching --max-count=1 '[0-9]*\.[0-9]*\.[0-9]*' | head -n 1)
    test "$found" = "$version" || { echo "$engine is $found, wanted $version" >&2; exit 1; }

    export RUNNER_TEMP=$work/$engine
    mkdir -p "$RUNNER_TEMP/daybook/memory"
    log=$RUNNER_TEMP/daybook-log search=$RUNNER_TEMP/search-log
    echo "Say hello." > "$RUNNER_TEMP/daybook/prompt.md"
    cat > "$RUNNER_TEMP/daybook/mcp.json" << JSON
{"mcpServers": {
  "daybook": {"type": "stdio", "command": "$node", "env": {}, "args": ["$repository/scripts/engines/server.mjs", "$log"]},
  "search": {"command": "$node", "args": ["$repository/scripts/engines/server.mjs", "$search"], "env": {"SEARCH_KEY": "\${SEARCH_KEY}"}}
}}
JSON
    # Copilot starts no server before it has looked at its key, unless it is told of a model of one's own.
    (cd "$work/project" && exec env SEARCH_KEY=key-of-search ANTHROPIC_API_KEY=none CODEX_API_KEY=none GEMINI_API_KEY=none \
        COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9/v1 \
        DAYBOOK_MCP_CONFIG="$RUNNER_TEMP/daybook/mcp.json" DAYBOOK_MEMORY="$RUNNER_TEMP/daybook/memory" \
        DAYBOOK_PROMPT="$RUNNER_TEMP/daybook/prompt.md" DAYBOOK_SAFE_OUTPUTS="$RUNNER_TEMP/daybook/safe-outputs.jsonl" \
        timeout 120 bash "$work/run.sh") > "$work/run.log" 2>&1 &
    run=$!
    for _ in $(seq 1200); do
        if grep --quiet '^tools/list' "$log" 2> /dev/null && grep --quiet '^tools/list' "$search" 2> /dev/null; then break; fi
        kill -0 "$run" 2> /dev/null || break
        sleep 0.1
    done
    # `timeout` hands the signal on to the engine and what that started.
    kill -TERM "$run" 2> /dev/null || true
    wait "$run" 2> /dev/null || true
    for asked in "$log" "$search"; do
        grep --quiet '^tools/list' "$asked" 2> /dev/null || {
            cat "$work/run.log" >&2
            echo "$engine did not ask for the tools of a server" >&2
            exit 1
        }
    done
    grep --quiet '^tools/list key=key-of-search$' "$search" || { echo "$engine gives the server another key" >&2; exit 1; }
    echo "$engine $version: starts, asks nobody, connects to both servers and fills in a variable"
done
