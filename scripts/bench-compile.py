"""200 workflows compiled by Daybook, and the results linted by zizmor: bench-compile.py DAYBOOK

Both are whole processes, in turn, seven times; a row shows the pair with the median ratio. zizmor comes from PyPI into a
folder that is removed at the end.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

COUNT, ROUNDS, GOAL = 200, 7, 2.0
ROOT = pathlib.Path(__file__).resolve().parent.parent


def sources(folder):
    """Every kind of source that the goldens have, each with ledgers, memories and branches of its own."""
    kinds = [ROOT / "testdata/ok" / f"{name}.md" for name in ("smallest", "everything", "engine-codex")]
    kinds.append(ROOT / "workflows/triage.md")
    (folder / ".github").mkdir()
    pins = (ROOT / "testdata/ok/.github/daybook.pins.json").read_text()
    (folder / ".github/daybook.pins.json").write_text(pins)
    for part in ("schemas", "scripts"):
        (folder / part).mkdir()
        for file in (ROOT / "testdata/ok" / part).iterdir():
            (folder / part / file.name).write_text(file.read_text())
    for number in range(COUNT):
        text = kinds[number % len(kinds)].read_text()
        for old in ("notes-log", "codex-notes", "archive:", "    triage:", "memory/shared", "{ notes: {} }"):
            text = text.replace(old, old.replace("{ notes", f"{{ n{number}").replace("archive:", f"archive{number}:")
                                .replace("triage:", f"triage{number}:").replace("shared", f"shared{number}")
                                .replace("notes-log", f"notes-log{number}").replace("codex-notes", f"codex-notes{number}"))
        (folder / f"workflow{number}.md").write_text(text)


def seconds(command, folder, good):
    since = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    took = time.perf_counter() - since
    if ended.returncode not in good:
        sys.exit(f"{command[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return took


def main(daybook):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        subprocess.run([work / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "zizmor"], check=True)
        folder = work / "workflows"
        folder.mkdir()
        sources(folder)
        compile_all = [daybook, "compile", ".", "--format", "json"]
        seconds(compile_all, folder, {0})
        locks = sorted(path.name for path in folder.glob("*.yml"))
        lines = sum(len((folder / lock).read_text().splitlines()) for lock in locks)
        lint = [work / "venv/bin/zizmor", "--offline", "--persona", "auditor", "--no-exit-codes", *locks]
        rounds = []
        for _ in range(ROUNDS):
            for lock in locks:
                (folder / lock).unlink()
            compiled = seconds(compile_all, folder, {0})
            rounds.append((compiled, seconds(lint, folder, {0})))
        compiled, linted = sorted(rounds, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
        ratio = compiled / linted
        missed = " MISSED" if ratio > GOAL else ""
        print("| what | yardstick | ratio | goal |\n|---|---|---|---|")
        what = f"compile {COUNT} workflows, {lines} lines, each proven ({compiled:.2f} s)"
        print(f"| {what} | zizmor, auditor persona ({linted:.2f} s) | {ratio:.2f}{missed} | {GOAL} |")


main(str(pathlib.Path(sys.argv[1]).resolve()))
