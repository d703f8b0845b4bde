//! The scripts of the compiler's own steps. They are constants: values reach them by environment variables only, so that
//! the self-check can compare every byte of what a trusted job runs.

/// Fetches the archive of a release and refuses other bytes than the pinned ones.
pub(crate) const INSTALL_RELEASE: &str = r#"set -euo pipefail
case "$RUNNER_OS-$RUNNER_ARCH" in
  Linux-X64) platform=linux-x64 want=$DAYBOOK_SHA256_LINUX_X64 ;;
  Linux-ARM64) platform=linux-arm64 want=$DAYBOOK_SHA256_LINUX_ARM64 ;;
  macOS-X64) platform=macos-x64 want=${DAYBOOK_SHA256_MACOS_X64:-} ;;
  macOS-ARM64) platform=macos-arm64 want=${DAYBOOK_SHA256_MACOS_ARM64:-} ;;
  *) platform=none want= ;;
esac
if [ -z "$want" ]; then
  echo "::error title=no release for this runner::the pins file has no archive for $RUNNER_OS-$RUNNER_ARCH"
  exit 2
fi
dir=$RUNNER_TEMP/daybook
rm -rf "$dir"
mkdir -p "$dir/bin"
curl --fail --silent --show-error --location --retry 3 --output "$dir/tools.tar.gz" \
  "$GITHUB_SERVER_URL/$DAYBOOK_REPOSITORY/releases/download/$DAYBOOK_TAG/daybook-$platform.tar.gz"
sum=(sha256sum)
if [ "$RUNNER_OS" = macOS ]; then sum=(shasum --algorithm 256); fi
if [ "$("${sum[@]}" < "$dir/tools.tar.gz" | cut -d ' ' -f 1)" != "$want" ]; then
  echo "::error title=wrong bytes::the archive is not the one that the pins file names"
  exit 3
fi
tar -xzf "$dir/tools.tar.gz" -C "$dir/bin" -o
"#;

/// Builds every binary once, from a commit.
pub(crate) const BUILD_TOOLS: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook-build
rm -rf "$dir"
git init --quiet "$dir"
cd "$dir"
git fetch --quiet --depth 1 "$GITHUB_SERVER_URL/$DAYBOOK_REPOSITORY" "$DAYBOOK_COMMIT"
git checkout --quiet --detach FETCH_HEAD
cargo build --quiet --release --locked --workspace --bins
mkdir out
for file in target/release/daybook-*; do
  if [ -f "$file" ] && [ -x "$file" ]; then cp "$file" out/; fi
done
tar -czf tools.tar.gz -C out .
echo "sha256=$(sha256sum tools.tar.gz | cut -d ' ' -f 1)" >> "$GITHUB_OUTPUT"
"#;

/// Takes the binaries of the job that built them and refuses other bytes.
pub(crate) const INSTALL_BUILT: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
archive=$RUNNER_TEMP/daybook-tools/tools.tar.gz
rm -rf "$dir"
mkdir -p "$dir/bin"
if ! echo "$DAYBOOK_TOOLS_SHA256  $archive" | sha256sum --check --strict --status; then
  echo "::error title=wrong bytes::the binaries are not those that the first job built"
  exit 3
fi
tar -xzf "$archive" -C "$dir/bin" --no-same-owner
"#;

pub(crate) const WRITE_CONFIG: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
mkdir -p "$dir/baseline" "$dir/staged"
printf '%s' "$DAYBOOK_CONFIG" > "$dir/config.json"
umask 077
: > "$dir/safe-outputs.jsonl"
: > "$dir/transaction-log.jsonl"
"#;

pub(crate) const RESTORE: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
"$dir/bin/daybook-agent" restore --config "$dir/config.json" --memory-root "$dir/memory" \
  --baseline "$dir/baseline/baseline.json"
"#;

/// Writes what the agent is started with. A prompt that holds the start of an expression carries a mark in its place.
pub(crate) const PREPARE_AGENT: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
prompt=$DAYBOOK_PROMPT_TEXT
if [ -n "$DAYBOOK_DOLLAR" ]; then prompt=${prompt//"$DAYBOOK_DOLLAR"/'$'}; fi
printf '%s' "$prompt" > "$dir/prompt.md"
# Not every agent can look up a variable.
case $prompt in
  *DAYBOOK_SAFE_OUTPUTS*) printf '\n\nDAYBOOK_SAFE_OUTPUTS is %s\n' "$dir/safe-outputs.jsonl" >> "$dir/prompt.md" ;;
esac
if [ -n "$DAYBOOK_MEMORIES" ]; then
  { printf '\n\n'; "$dir/bin/daybook-agent" prompt --format human --config "$dir/config.json" \
    --baseline "$dir/baseline/baseline.json"; } >> "$dir/prompt.md"
fi
{
  printf '{"mcpServers":{'
  if [ -n "$DAYBOOK_LEDGERS" ]; then
    printf '"daybook":{"type":"stdio","command":"%s/bin/daybook-agent","env":{},"args":["serve",' "$dir"
    printf '"--config","%s/config.json","--memory-root","%s/memory",' "$dir" "$dir"
    printf '"--baseline","%s/baseline/baseline.json","--transaction-log","%s/transaction-log.jsonl"]}' "$dir" "$dir"
  fi
  printf '%s}}\n' "$DAYBOOK_MCP_SERVERS"
} > "$dir/mcp.json"
"#;

/// Runs after the agent, by absolute path and without its environment.
pub(crate) const MERGE: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
/usr/bin/env -i "$dir/bin/daybook-merge" --format github --config "$dir/config.json" --memory-root "$dir/memory" \
  --baseline "$dir/baseline/baseline.json" --transaction-log "$dir/transaction-log.jsonl" \
  --safe-outputs "$dir/safe-outputs.jsonl" --out "$dir/staged"
for file in safe-outputs.jsonl transaction-log.jsonl; do
  if [ -f "$dir/$file" ] && [ ! -L "$dir/$file" ]; then cp "$dir/$file" "$dir/staged/$file"; fi
done
"#;

pub(crate) const NOTICE_READ_ONLY: &str = "echo \"::notice title=memory is read-only::pull requests of forks and of Dependabot leave nothing in the memory\"\n";

pub(crate) const DETECT: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
"$dir/bin/daybook-detect" --staged "$dir/staged" --baseline "$dir/baseline/baseline.json" \
  --transaction-log "$dir/staged/transaction-log.jsonl" --safe-outputs "$dir/staged/safe-outputs.jsonl" \
  --out "$dir/findings"
"#;

/// What the author's own detection says; nothing said is no verdict.
pub(crate) const READ_AUTHOR_VERDICT: &str = r#"set -euo pipefail
verdict=
for word in clean suspicious threat; do
  if grep --quiet --line-regexp --fixed-strings "$word" "$RUNNER_TEMP/daybook-verdict"; then verdict=$word; fi
done
echo "verdict=$verdict" >> "$GITHUB_OUTPUT"
"#;

/// Partial (8) is no failure of the job: what was refused is named in warnings, and what was not goes on to the author's
/// jobs. One bad line of an agent must not silence the good ones.
pub(crate) const SAFE_OUTPUTS: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook code=0
"$dir/bin/daybook-safe-outputs" --safe-outputs "$dir/staged/safe-outputs.jsonl" --out "$dir/outputs" || code=$?
if [ "$code" != 8 ]; then exit "$code"; fi
"#;

/// Binds what the author's jobs read.
pub(crate) const BIND_OUTPUTS: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
mkdir -p "$dir/outputs" "$dir/bound"
cat "$dir"/outputs/*.jsonl > "$dir/bound/outputs.jsonl" 2> /dev/null || :
echo "sha256=$(sha256sum "$dir/bound/outputs.jsonl" | cut -d ' ' -f 1)" >> "$GITHUB_OUTPUT"
"#;

pub(crate) const CHECK_OUTPUTS: &str = r#"set -euo pipefail
if ! echo "$DAYBOOK_SHA256  $RUNNER_TEMP/daybook-outputs/outputs.jsonl" | sha256sum --check --strict --status; then
  echo "::error title=wrong bytes::the outputs are not those that were checked"
  exit 3
fi
"#;

pub(crate) const PERSIST: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
"$dir/bin/daybook-persist" --staged "$dir/staged" --baseline "$dir/baseline/baseline.json"
"#;

/// A request for a ledger that is not compacted, or for none, fails instead of doing nothing.
pub(crate) const CHECK_LEDGER: &str = r#"set -euo pipefail
for ledger in $DAYBOOK_LEDGERS; do
  if [ "$ledger" = "$DAYBOOK_LEDGER" ]; then exit 0; fi
done
echo "::error title=unknown ledger::ledgers with compaction are: $DAYBOOK_LEDGERS"
exit 2
"#;

pub(crate) const PLAN: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook
mkdir -p "$dir/plan"
"$dir/bin/daybook-maintenance-plan" --out "$dir/plan/plan.json"
if [ -f "$dir/plan/plan.json" ]; then
  echo "plan=$(sha256sum "$dir/plan/plan.json" | cut -d ' ' -f 1)" >> "$GITHUB_OUTPUT"
fi
"#;

/// Stale or in conflict (4) and contended (5) are no failure of the job: nothing was changed, a warning says why, and the
/// next run plans again.
pub(crate) const APPLY: &str = r#"set -euo pipefail
dir=$RUNNER_TEMP/daybook code=0
if ! echo "$DAYBOOK_PLAN_SHA256  $dir/plan/plan.json" | sha256sum --check --strict --status; then
  echo "::error title=wrong bytes::the plan is not the one that was made in this run"
  exit 3
fi
"$dir/bin/daybook-maintenance-apply" --plan "$dir/plan/plan.json" || code=$?
if [ "$code" != 4 ] && [ "$code" != 5 ]; then exit "$code"; fi
"#;
