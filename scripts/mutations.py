#!/usr/bin/env python3
"""Takes checks out, one at a time, and sees whether a test turns red: scripts/mutations.py [NAME…]

Works on a copy of the tree as it is committed. A mutation that no test notices, that does not apply any more, or that does
not compile fails the whole. The tests that have to notice are those of one package, so that it takes seconds each.
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Name, file, what stands there, what is put in its place, and the tests that have to turn red.
MUTATIONS = [
    ("§2 a record's digest is not computed", "crates/core/src/line.rs",
     "(hasher.finish() == sha).then_some(", "(hasher.finish() != Digest::of(b\"\")).then_some(", ["-p", "daybook-core"]),
    ("§3 the agent may link the crate that pushes", "crates/jobs/agent/Cargo.toml",
     "[dependencies]\n", "[dependencies]\ndaybook-publish = { workspace = true }\n",
     ["-p", "daybook-testkit", "--test", "trust_graph"]),
    ("§4.1 nobody asks for the consent of the validation script", "crates/jobs/persist/src/land.rs",
     "consent(self.memory, validation, &sides, &files, &self.run.id)?;",
     "drop(consent(self.memory, validation, &sides, &files, &self.run.id));", ["-p", "daybook-persist"]),
    ("§4.2 a selection script may name what cannot be a source", "crates/compaction/src/select.rs",
     "if !bounds.admits(shard) {", "if !bounds.admits(shard) && shard.bytes() == 0 {", ["-p", "daybook-compaction"]),
    ("§5.1 a link of the branch is restored", "crates/jobs/agent/src/restore.rs",
     'EntryKind::Symlink => return Err("link"),', "EntryKind::Symlink => (),", ["-p", "daybook-agent"]),
    ("§5.2 an entry is no claim of a kind that is bounded", "crates/jobs/safe-outputs/src/ingest.rs",
     "if self.found.claims.len() as u64 >= max {", "if self.found.claims.len() as u64 >= u64::MAX - max {",
     ["-p", "daybook-safe-outputs"]),
    ("§5.3 a plan's id is believed", "crates/compaction/src/check.rs",
     "holds(id == wire.plan_id, PlanFault::PlanId)?;", "holds(id == id, PlanFault::PlanId)?;",
     ["-p", "daybook-compaction"]),
    ("§5.4 a source goes whatever it holds", "crates/compaction/src/coverage.rs",
     "if records(&bytes).all(|record| kept.contains(&record))",
     "if records(&bytes).all(|record| kept.contains(&record) || kept.len() < usize::MAX)",
     ["-p", "daybook-compaction"]),
    ("§5.5 the branch is pushed wherever it is", "crates/publish/src/push.rs",
     'command = command.option(format!("--force-with-lease={branch}:{expected}"));',
     'command = command.option("--force"); drop(expected);', ["-p", "daybook-publish"]),
    ("§6 an id that is in use is taken again", "crates/jobs/persist/src/select.rs",
     "let unique = !head.uses(id) && users.get(&id) == Some(&1);",
     "let unique = head.uses(id) || users.get(&id).is_some();", ["-p", "daybook-persist"]),
    ("§7 a limit may be anything", "crates/core/src/limits.rs",
     "if (range.min..=range.max).contains(&value) {", "if (range.min..=u64::MAX).contains(&value) {",
     ["-p", "daybook-core"]),
    ("§8 a path may lead out of its folder", "crates/core/src/path.rs",
     'matches!(component, "" | "." | "..")', 'matches!(component, "" | ".")', ["-p", "daybook-core"]),
    ("§9 a threat passes", "crates/runner/src/gate.rs",
     'Some(Verdict::Threat) => Err(Stop::refused("verdict-threat", "detection calls this run a threat")),',
     "Some(Verdict::Threat) if word.is_empty() => Err(Stop::refused(\"verdict-threat\", \"\")),",
     ["-p", "daybook-runner"]),
    ("a diagnostic has no section", "docs/diagnostics.md", "### plan-id\n", "#### plan-id\n",
     ["-p", "daybook-testkit", "--test", "documentation"]),
    ("a requirement has no test", "SPEC.md", "| DB-1-01 |", "| DB-1-02 | MUST | Nobody holds this. |\n| DB-1-01 |",
     ["-p", "daybook-testkit", "--test", "requirements"]),
]


def main():
    wanted = sys.argv[1:]
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    with tempfile.TemporaryDirectory() as place:
        tree = os.path.join(place, "tree")
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree], check=True)
        try:
            failed = [name for name, *mutation in MUTATIONS
                      if (not wanted or any(word in name for word in wanted))
                      and not caught(name, tree, os.path.join(target, "mutations"), *mutation)]
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)
    print(f"{len(failed)} mutations were not noticed" if failed else "every mutation turns a test red")
    sys.exit(1 if failed else 0)


def caught(name, tree, target, file, old, new, tests):
    path = os.path.join(tree, file)
    with open(path) as source:
        before = source.read()
    if before.count(old) < 1:
        print(f"{name}: does not apply any more")
        return False
    with open(path, "w") as source:
        source.write(before.replace(old, new, 1))
    environment = {**os.environ, "CARGO_TARGET_DIR": target, "CARGO_INCREMENTAL": "1", "RUSTFLAGS": "-Awarnings"}
    run = subprocess.run(["cargo", "test", "--quiet", "--offline", *tests], cwd=tree, env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    with open(path, "w") as source:
        source.write(before)
    red = run.returncode != 0 and "test result: FAILED" in run.stdout
    first = next((line for line in run.stdout.splitlines() if line.endswith("FAILED")), "")
    print(f"{name}: {'red: ' + first if red else 'NOT NOTICED'}", flush=True)
    if not red:
        print("\n".join(run.stdout.splitlines()[-15:]))
    return red


main()
