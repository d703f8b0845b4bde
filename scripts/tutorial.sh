#!/usr/bin/env bash
# Types docs/tutorial.md line by line: runs its sh blocks in a fresh folder, and looks for the lines of the text block
# behind each one in what it printed. Usage: scripts/tutorial.sh BIN_DIR (a folder with the program daybook)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:?usage: scripts/tutorial.sh BIN_DIR}" && pwd)
[ -x "$bin/daybook" ] || { echo "there is no program daybook in the folder given" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One file for each block, numbered in order, by kind; blocks before the first sh block and of other kinds are prose.
awk -v out="$work" '
    /^```(sh|text)$/ { kind = substr($0, 4); file = sprintf("%s/%03d.%s", out, ++number, kind); printf "" > file; next }
    /^```/ { file = ""; next }
    file != "" { print > file }
' docs/tutorial.md

mkdir "$work/home" "$work/place"
: > "$work/said"
{
    echo 'set -euo pipefail'
    for block in "$work"/[0-9]*.sh; do
        name=$(basename "$block" .sh)
        echo "exec > '$work/$name.said' 2>&1"
        cat "$block"
    done
} > "$work/all.sh"
if ! (cd "$work/place" && env -i HOME="$work/home" PATH="$bin:$PATH" TERM=dumb bash "$work/all.sh"); then
    echo "a block of the tutorial failed; the last one said:" >&2
    tail -n 40 "$(find "$work" -name '*.said' | sort | tail -n 1)" >&2
    exit 1
fi

checked=0
said=
for file in "$work"/[0-9]*; do
    case $file in
        *.said) said=$file ;;
        *.text)
            # The last block is for the reader's own repository: it follows prose, not commands.
            [ -n "$said" ] || continue
            while IFS= read -r line; do
                grep --quiet --fixed-strings -- "$line" "$said" || {
                    echo "the tutorial shows, and the program did not say: $line" >&2
                    cat "$said" >&2
                    exit 1
                }
                checked=$((checked + 1))
            done < "$file"
            said=
            ;;
    esac
done
echo "the tutorial holds: $(find "$work" -name '*.said' | wc -l) blocks run, $checked lines found"
