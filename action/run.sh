#!/usr/bin/env bash
# Runs one job, by absolute path, with the files where compiled workflows have them: below $RUNNER_TEMP/daybook.
set -euo pipefail

dir=$RUNNER_TEMP/daybook
baseline=$dir/baseline/baseline.json

fail() {
    echo "::error title=$1::$2"
    exit 2
}

needs() {
    for name in "$@"; do
        if [ -z "${!name:-}" ]; then fail "missing input" "the job $DAYBOOK_JOB needs the input for $name"; fi
    done
}

digest() {
    if [ "$RUNNER_OS" = macOS ]; then shasum --algorithm 256 < "$1"; else sha256sum < "$1"; fi | cut -d ' ' -f 1
}

# An exit that stands for "partly done, and said so" is no failure of the step.
bearable() {
    local code=0
    "${@:2}" || code=$?
    case " $1 " in *" $code "*) ;; *) exit "$code" ;; esac
}

# Jobs that no token belongs to never see one.
case $DAYBOOK_JOB in
    restore | persist | maintenance-plan | maintenance-apply) needs GITHUB_TOKEN ;;
    safe-outputs) ;;
    *) unset GITHUB_TOKEN ;;
esac

case $DAYBOOK_JOB in
    install) ;;
    restore)
        needs DAYBOOK_CONFIG
        mkdir -p "$dir/baseline" "$dir/staged"
        printf '%s' "$DAYBOOK_CONFIG" > "$dir/config.json"
        (umask 077 && : > "$dir/safe-outputs.jsonl" && : > "$dir/transaction-log.jsonl")
        said=$dir/restore-outputs
        : > "$said"
        GITHUB_OUTPUT=$said "$dir/bin/daybook-agent" restore --config "$dir/config.json" --memory-root "$dir/memory" \
            --baseline "$baseline"
        cat "$said" >> "$GITHUB_OUTPUT"
        # Each memory's commit is an output of its own, of one line between two marks.
        base=$(awk '/^base_[A-Za-z0-9_-]+<</ { sub(/^base_/, ""); sub(/<<.*/, ""); id = $0; getline; printf "%s%s=%s", space, id, $0; space = " " }' "$said")
        rm -f "$said"
        {
            printf '{"mcpServers":{"daybook":{"type":"stdio","command":"%s/bin/daybook-agent","env":{},"args":["serve",' "$dir"
            printf '"--config","%s/config.json","--memory-root","%s/memory",' "$dir" "$dir"
            printf '"--baseline","%s","--transaction-log","%s/transaction-log.jsonl"]}}}\n' "$baseline" "$dir"
        } > "$dir/mcp.json"
        {
            echo "base=$base"
            echo "memory=$dir/memory"
            echo "mcp-config=$dir/mcp.json"
            echo "safe-outputs=$dir/safe-outputs.jsonl"
        } >> "$GITHUB_OUTPUT"
        ;;
    merge)
        /usr/bin/env -i "$dir/bin/daybook-merge" --format github --config "$dir/config.json" --memory-root "$dir/memory" \
            --baseline "$baseline" --transaction-log "$dir/transaction-log.jsonl" --safe-outputs "$dir/safe-outputs.jsonl" \
            --out "$dir/staged"
        for file in safe-outputs.jsonl transaction-log.jsonl; do
            if [ -f "$dir/$file" ] && [ ! -L "$dir/$file" ]; then cp "$dir/$file" "$dir/staged/$file"; fi
        done
        ;;
    detect)
        needs DAYBOOK_CONFIG
        "$dir/bin/daybook-detect" --staged "$dir/staged" --baseline "$baseline" \
            --transaction-log "$dir/staged/transaction-log.jsonl" --safe-outputs "$dir/staged/safe-outputs.jsonl" \
            --out "$dir/findings"
        ;;
    safe-outputs)
        needs DAYBOOK_CONFIG DAYBOOK_VERDICT DAYBOOK_EXPECT
        bearable "0 8" "$dir/bin/daybook-safe-outputs" --safe-outputs "$dir/staged/safe-outputs.jsonl" --out "$dir/outputs"
        ;;
    persist)
        needs DAYBOOK_CONFIG DAYBOOK_VERDICT DAYBOOK_EXPECT DAYBOOK_BASE
        "$dir/bin/daybook-persist" --staged "$dir/staged" --baseline "$baseline"
        ;;
    maintenance-plan)
        needs DAYBOOK_CONFIG DAYBOOK_LEDGER
        mkdir -p "$dir/plan"
        "$dir/bin/daybook-maintenance-plan" --out "$dir/plan/plan.json"
        if [ -f "$dir/plan/plan.json" ]; then echo "plan=$(digest "$dir/plan/plan.json")" >> "$GITHUB_OUTPUT"; fi
        ;;
    maintenance-apply)
        needs DAYBOOK_CONFIG DAYBOOK_LEDGER DAYBOOK_PLAN_SHA256
        if [ "$(digest "$dir/plan/plan.json")" != "$DAYBOOK_PLAN_SHA256" ]; then
            echo "::error title=wrong bytes::the plan is not the one that was made in this run"
            exit 3
        fi
        bearable "0 4 5" "$dir/bin/daybook-maintenance-apply" --plan "$dir/plan/plan.json"
        ;;
    *)
        fail "unknown job" "allowed are restore, merge, detect, safe-outputs, persist, maintenance-plan, maintenance-apply, install"
        ;;
esac
