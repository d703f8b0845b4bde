//! Every single edit of a compiled file that gives somebody more than the privilege table does.

use daybook_compiler::audit::{self, Audit};
use daybook_testkit::said;

use crate::{compiled, testdata};

fn audit(text: &str) -> Result<Audit, String> {
    let audit = audit::audit(text)?;
    for finding in &audit.findings {
        said::keep(finding.code, &finding.message);
    }
    Ok(audit)
}

/// One edit of a compiled file: the file, what is replaced (its first occurrence behind the marker), by what, and the
/// code that finds it.
type Mutation = (&'static str, &'static str, &'static str, &'static str, &'static str);

const MUTATIONS: &[Mutation] = &[
    ("everything", "jobs:\n", "permissions: {}", "permissions: write-all", "permissions-whole"),
    ("everything", "  agent:\n", "      contents: read", "      contents: write", "right-too-many"),
    ("everything", "  agent:\n", "      issues: read", "      issues: write", "right-too-many"),
    ("everything", "  detect:\n", "    permissions: {}", "    permissions:\n      contents: read", "right-too-many"),
    (
        "everything",
        "  detect_author:\n",
        "    permissions: {}",
        "    permissions:\n      id-token: write",
        "right-too-many",
    ),
    ("everything", "  safe_outputs:\n", "      actions: write", "      contents: write", "right-too-many"),
    (
        "everything",
        "  persist:\n",
        "      contents: write",
        "      contents: write\n      packages: write",
        "right-too-many",
    ),
    ("everything", "  persist:\n", "      contents: write", "      content: write", "permission-unknown"),
    ("everything", "  persist:\n", "      - detect\n", "", "needs-missing"),
    ("everything", "  persist:\n", "      - detect_author\n", "", "needs-missing"),
    ("everything", "  persist:\n", "      - agent\n", "", "needs-missing"),
    ("everything", "  safe_outputs:\n", "      - detect\n", "", "needs-missing"),
    ("everything", "  persist:\n", " && needs.detect.result == 'success'", "", "condition-missing"),
    ("everything", "  persist:\n", " && needs.detect_author.result == 'success'", "", "condition-missing"),
    ("everything", "  persist:\n", " && needs.agent.outputs.baseline != ''", "", "condition-missing"),
    ("everything", "  persist:\n", " == github.repository", " != ''", "condition-missing"),
    (
        "everything",
        "  persist:\n",
        " && github.event.pull_request.user.login != 'dependabot[bot]'",
        "",
        "condition-missing",
    ),
    ("everything", "  persist:\n", "${{ !cancelled()", "${{ always() || !cancelled()", "condition-missing"),
    ("everything", "  output_open_issue:\n", " && needs.safe_outputs.result == 'success'", "", "condition-missing"),
    ("everything", "  agent:\n", "github.event.comment.author_association", "github.actor", "roles-missing"),
    ("everything", "  agent:\n", "@de0fac2e4500dabe0009e67214ff5f5447ce83dd", "@v6", "unpinned-action"),
    ("everything", "  persist:\n", "@37930b1c2abaa49bbe596cd826c3c89aef350131", "@v7", "unpinned-action"),
    (
        "everything",
        "  agent:\n",
        "          persist-credentials: false",
        "          persist-credentials: true",
        "credentials-persisted",
    ),
    (
        "everything",
        "  agent:\n",
        "          KEY: ${{ secrets.AGENT_KEY }}",
        "          KEY: ${{ github.token }}",
        "token-out-of-place",
    ),
    (
        "everything",
        "  agent:\n",
        "          KEY: ${{ secrets.AGENT_KEY }}",
        "          KEY: ${{ secrets.GITHUB_TOKEN }}",
        "token-out-of-place",
    ),
    (
        "everything",
        "  agent:\n",
        "          KEY: ${{ secrets.AGENT_KEY }}",
        "          KEY: ${{ toJSON(secrets) }}",
        "all-secrets",
    ),
    (
        "everything",
        "  agent:\n",
        "    timeout-minutes: 75\n",
        "    timeout-minutes: 75\n    env:\n      T: ${{ github.token }}\n",
        "token-of-job",
    ),
    (
        "everything",
        "  detect:\n",
        "        id: detect\n",
        "        id: detect\n        continue-on-error: true\n",
        "step-changed",
    ),
    (
        "everything",
        "  detect:\n",
        "          DAYBOOK_CONFIG:",
        "          GITHUB_TOKEN: ${{ github.token }}\n          DAYBOOK_CONFIG:",
        "token-out-of-place",
    ),
    (
        "everything",
        "  agent:\n",
        "        run: echo \"$TITLE\"",
        "        run: echo ${{ github.event.issue.title }}",
        "expression-in-run",
    ),
    ("everything", "  persist:\n", "baseline.json=${{ needs.agent.outputs.baseline }} ", "", "binding-changed"),
    ("everything", "  persist:\n", " ${{ needs.detect.outputs.expect }}", "", "binding-changed"),
    (
        "everything",
        "  persist:\n",
        "needs.detect_author.outputs.verdict == 'threat' && 'threat' || ",
        "",
        "binding-changed",
    ),
    ("everything", "  persist:\n", "drafts=${{ needs.agent.outputs.base_drafts }}", "drafts=", "binding-changed"),
    ("everything", "  safe_outputs:\n", "baseline.json=${{ needs.agent.outputs.baseline }} ", "", "binding-changed"),
    (
        "everything",
        "  safe_outputs:\n",
        "${{ github.event.repository.default_branch }}",
        "${{ github.head_ref }}",
        "binding-changed",
    ),
    (
        "everything",
        "  safe_outputs:\n",
        "          DAYBOOK_DEFAULT_BRANCH:",
        "          GITHUB_API_URL: https://forge.example\n          DAYBOOK_DEFAULT_BRANCH:",
        "foreign-variable",
    ),
    ("everything", "  output_open_issue:\n", "${{ needs.safe_outputs.outputs.sha256 }}", "x", "binding-changed"),
    (
        "everything",
        "  agent:\n",
        "baseline: ${{ steps.restore.outputs.baseline }}",
        "baseline: ${{ steps.prepare.outputs.baseline }}",
        "output-changed",
    ),
    ("everything", "  detect:\n", "verdict: ${{ steps.detect.outputs.verdict }}", "verdict: clean", "output-changed"),
    (
        "everything",
        "  persist:\n",
        "1111111111111111111111111111111111111111111111111111111111111111",
        "1",
        "tools-unchecked",
    ),
    (
        "everything",
        "  persist:\n",
        "if [ \"$(\"${sum[@]}\" < \"$dir/tools.tar.gz\" | cut -d ' ' -f 1)\" != \"$want\" ]; then",
        "if false; then",
        "foreign-code",
    ),
    ("everything", "  persist:\n", "\"$dir/bin/daybook-persist\"", "\"$dir/staged/daybook-persist\"", "foreign-code"),
    (
        "everything",
        "  persist:\n",
        "        id: persist\n",
        "        id: persist\n        if: ${{ false }}\n",
        "step-condition",
    ),
    (
        "everything",
        "  persist:\n",
        "        id: persist\n        shell: bash",
        "        id: persist\n        shell: bash {0} || true",
        "step-changed",
    ),
    (
        "everything",
        "  persist:\n",
        "          DAYBOOK_RUN_ID:",
        "          BASH_ENV: x\n          DAYBOOK_RUN_ID:",
        "foreign-variable",
    ),
    (
        "everything",
        "  persist:\n",
        "    runs-on: ubuntu-22.04",
        "    runs-on: ${{ github.event.inputs.topic }}",
        "runner-chosen",
    ),
    ("everything", "  persist:\n", "    runs-on: ubuntu-22.04", "    runs-on: ubuntu-24.04", "runner-differs"),
    ("everything", "  persist:\n", "    runs-on:", "    container: example/image\n    runs-on:", "unexpected-key"),
    ("everything", "  persist:\n", "    timeout-minutes: 30\n", "", "timeout-missing"),
    (
        "everything",
        "  persist:\n",
        "    permissions:",
        "    concurrency: memory\n    permissions:",
        "concurrency-changed",
    ),
    ("everything", "permissions: {}\n", "jobs:\n", "concurrency: all\njobs:\n", "unexpected-key"),
    ("everything", "permissions: {}\n", "jobs:\n", "env:\n  A: b\njobs:\n", "unexpected-key"),
    (
        "everything",
        "permissions: {}\n",
        "jobs:\n",
        "jobs:\n  extra:\n    runs-on: ubuntu-latest\n    permissions: {}\n    steps: []\n",
        "unknown-job",
    ),
    ("everything", "  agent:\n", "          retention-days: 7", "          retention-days: 1", "retention-short"),
    ("everything", "  detect:\n", "    permissions: {}\n", "", "permissions-missing"),
    ("everything", "jobs:\n", "permissions: {}", "permissions:\n  contents: read", "permissions-not-empty"),
    ("everything", "  persist:\n", "      contents: write", "      contents: read", "right-missing"),
    ("smallest", "  agent:\n", "      contents: read", "      issues: read", "right-missing"),
    ("everything", "  persist:\n", "    runs-on:", "    secrets: inherit\n    runs-on:", "secrets-inherited"),
    ("everything", "  persist:\n", "_TOKEN: ${{ github.token }}", "_TOKEN: ${{ secrets.MINE }}", "token-changed"),
    ("everything", "  agent:\n", "_TOKEN: ${{ github.token }}", "_TOKEN: x", "token-changed"),
    ("everything", "jobs:\n", "  detect:\n", "  detector:\n", "job-missing"),
    ("smallest", "jobs:\n", "  agent:\n", "  output_agent:\n", "job-missing"),
    ("everything", "  persist:\n", "\"$dir/bin/daybook-persist\"", "true \"$dir/bin/daybook-persist\"", "step-missing"),
    (
        "everything",
        "  agent:\n",
        "      - name: Restore the memory\n",
        "      - name: Ours\n        run: make\n      - name: Restore the memory\n",
        "baseline-late",
    ),
    ("everything", "  agent:\n", "          name: daybook-baseline\n", "          name: other\n", "baseline-late"),
    (
        "everything",
        "  output_open_issue:\n",
        "      - name: Fetch the outputs\n",
        "      - name: Ours\n        run: make\n      - name: Fetch the outputs\n",
        "outputs-unchecked",
    ),
    (
        "everything",
        "  persist:\n",
        "DAYBOOK_CONFIG: '{",
        "DAYBOOK_CONFIG: '${{ github.head_ref }}{",
        "config-expression",
    ),
    ("everything", "#", "# pull_request_target is used for this reason", "# pull_request_target", "dangerous-event"),
    (
        "daybook-maintenance",
        "  ledger_compaction_plan_notes:\n",
        "      contents: read",
        "      contents: write",
        "right-too-many",
    ),
    (
        "daybook-maintenance",
        "  ledger_compaction_apply_notes:\n",
        "      - ledger_compaction_plan_notes\n",
        "      - check_ledger\n",
        "needs-missing",
    ),
    (
        "daybook-maintenance",
        "  ledger_compaction_apply_notes:\n",
        "DAYBOOK_PLAN_SHA256: ${{ needs.ledger_compaction_plan_notes.outputs.plan }}",
        "DAYBOOK_PLAN_SHA256: x",
        "binding-changed",
    ),
    (
        "daybook-maintenance",
        "  ledger_compaction_apply_notes:\n",
        "cancel-in-progress: false",
        "cancel-in-progress: true",
        "concurrency-changed",
    ),
    (
        "daybook-maintenance",
        "  ledger_compaction_apply_notes:\n",
        "group: daybook-maintenance-notes",
        "group: other",
        "concurrency-changed",
    ),
];

// DB-3-02, DB-3-03, DB-4.2-04, DB-3-07, DB-3-08, DB-5.3-01, DB-B-02, DB-B-10
#[test]
fn every_single_widening_is_found() {
    let files = compiled(&testdata("ok"));
    for (file, behind, from, to, code) in MUTATIONS {
        let (_, text) = files.iter().find(|(name, _)| name.starts_with(file)).expect(file);
        let start = text.find(behind).unwrap_or_else(|| panic!("{file} has no {behind:?}"));
        // Rights at the top stand before the jobs.
        let start = if *from == "permissions: {}" { 0 } else { start };
        let (head, tail) = text.split_at(start);
        assert!(tail.contains(from), "{file}: nothing to change: {from:?}");
        let mutant = format!("{head}{}", tail.replacen(from, to, 1));
        let audit = audit(&mutant).unwrap_or_else(|message| panic!("{from:?} -> {to:?}: {message}"));
        let codes: Vec<_> =
            audit.findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.code).collect();
        assert!(codes.contains(code), "{file}: {from:?} -> {to:?}: wanted {code}, found {codes:?}");
    }
}

/// What an author may well have meant is said, and fails no check.
#[test]
fn what_may_be_meant_is_a_note() {
    let files = compiled(&testdata("ok"));
    let (_, text) = files.iter().find(|(name, _)| name.starts_with("smallest")).expect("smallest");
    let (without_memory, _) = text.split_once("\n  persist:\n").expect("the last job");
    for (text, notes) in [
        (text.clone(), &[][..]),
        (text.replace("runs-on: ubuntu-latest", "runs-on: our-machine"), &["runner-shared"]),
        (text.replace("runs-on: ubuntu-latest", "runs-on: [self-hosted, linux]"), &["runner-shared"]),
        (text.replacen("runs-on: ubuntu-latest", "runs-on: our-machine", 1), &[]),
        (format!("{without_memory}\n"), &["no-persistence"]),
    ] {
        let found = audit(&text).expect("a workflow").findings;
        assert!(found.iter().all(|finding| !finding.is_error()), "{found:?}");
        assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), notes);
    }
}
