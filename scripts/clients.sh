#!/usr/bin/env bash
# Runs the whole pipeline with two real MCP clients as the agent: scripts/clients.sh DAYBOOK [dry-run options …]
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
npm install --prefix "$work" --no-audit --no-fund --silent '@modelcontextprotocol/inspector@2'
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
        if (jobs !== "restore ok, agent ok, merge ok, persist ok" || added.join() !== process.argv[2]) {
            console.error(`${jobs}; on the branch: ${JSON.stringify(added)}`);
            process.exit(1);
        }
        console.log(`${process.argv[2]}: it is on the branch`);
    ' "$work/report.json" "$reason"
}

pipeline "'$work/venv/bin/python' '$repository/scripts/mcp_client.py'" "appended by the Python SDK" "$@"
pipeline "bash '$repository/scripts/mcp_inspector.sh'" "appended by the TypeScript SDK" "$@"
