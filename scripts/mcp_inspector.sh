#!/usr/bin/env bash
# Plays the agent with the TypeScript MCP SDK, by way of the inspector: lists the tools and appends one record.
set -euo pipefail

inspect() {
    MCP_INSPECTOR_SECRET_STORE=memory "$INSPECTOR" --cli --config "$DAYBOOK_MCP_CONFIG" --server daybook "$@"
}

tools=$(inspect --method tools/list | grep -o '"name": "ledger_[a-z]*"' | sort | tr -d '\n ')
expected='"name":"ledger_append""name":"ledger_get""name":"ledger_query""name":"ledger_status"'
if [ "$tools" != "$expected" ]; then
    echo "the inspector lists other tools: $tools" >&2
    exit 1
fi
# A refused call makes the inspector end with an error.
inspect --method tools/call --tool-name ledger_append --tool-arg type=note \
    --tool-arg 'payload={"issue":8,"reason":"appended by the TypeScript SDK"}' > /dev/null
