#!/usr/bin/env bash
# Runs the whole pipeline with two real MCP clients as the agent, and one script of calls with four of them:
# scripts/clients.sh DAYBOOK [dry-run options …]. daybook-agent lies beside DAYBOOK.
#
# The clients come from PyPI and npm into a folder that is removed at the end.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
daybook=$1
shift
for tool in python3 node npm git; do
    command -v "$tool" > /dev/null || { echo "scripts/clients.sh needs $tool" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'mcp>=2.3,<3'
echo '{"private":true}' > "$work/package.json"
npm install --prefix "$work" --no-audit --no-fund --silent '@modelcontextprotocol/inspector@2' \
    '@modelcontextprotocol/sdk@1'
export INSPECTOR=$work/node_modules/.bin/mcp-inspector

# Runs the pipeline with a command as the agent, and makes sure that its one record arrived on the branch.
pipeline() {
    local client=$1 reason=$2
    shift 2
    "$daybook" dry-run "$repository/workflows/triage.md" --agent "$client" --agent-env INSPECTOR --format json "$@" \
        > "$work/report.json" || { cat "$work/report.json" >&2; return 1; }
    node -e '
        const report = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
        const added = report.branches[0].added.map((record) => record.payload.reason);
        const jobs = report.jobs.map((job) => `${job.job} ${job.outcome}`).join(", ");
        if (jobs !== "restore ok, agent ok, merge ok, detect clean, safe-outputs ok, persist ok, maintenance-plan nothing_to_do" || added.join() !== process.argv[2]) {
            console.error(`${jobs}; on the branch: ${JSON.stringify(added)}`);
            process.exit(1);
        }
        console.log(`${process.argv[2]}: it is on the branch`);
    ' "$work/report.json" "$reason"
}

pipeline "'$work/venv/bin/python' '$repository/scripts/mcp_client.py'" "appended by the Python SDK" "$@"
pipeline "bash '$repository/scripts/mcp_inspector.sh'" "appended by the TypeScript SDK" "$@"

# A server on a memory of its own, as a command line in `serve`.
memory() {
    local place=$work/$1
    mkdir -p "$place/memory/triage"
    echo '{"version":1,"workflow":"triage","ledgers":[{"name":"triage","schema":{"type":"object"}}]}' > "$place/config.json"
    echo '{"memories":[{"base":"","branch":"ledgers/triage","files":[],"id":"triage","records":[]}],"version":1}' \
        > "$place/baseline.json"
    serve=("$(cd "$(dirname "$daybook")" && pwd)/daybook-agent" serve --config "$place/config.json"
        --memory-root "$place/memory" --baseline "$place/baseline.json" --transaction-log "$place/log.jsonl")
}

calls=$repository/scripts/clients_calls.json
for mode in auto legacy; do
    memory "python-$mode"
    "$work/venv/bin/python" "$repository/scripts/clients_python.py" "$mode" "$calls" "${serve[@]}" \
        > "$work/python-$mode.json"
done
memory typescript
node "$repository/scripts/clients_typescript.mjs" "$work" "$calls" "${serve[@]}" > "$work/typescript.json"
memory inspector
node -e '
    const [command, ...args] = process.argv.slice(1);
    console.log(JSON.stringify({ mcpServers: { daybook: { command, args } } }));
' "${serve[@]}" > "$work/inspector-servers.json"
node "$repository/scripts/clients_inspector.mjs" "$INSPECTOR" "$work/inspector-servers.json" "$calls" \
    > "$work/inspector.json"
node "$repository/scripts/clients_agree.mjs" "$work"/{python-auto,python-legacy,typescript,inspector}.json
