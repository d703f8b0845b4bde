//! The push under an expected head, and what its answer means.

use daybook_branch::git::GitFault;
use daybook_branch::{FaultKind, Oid, RemoteFault, Snapshot, reference};

use crate::denial::{Denial, LASTING, MOVED, REFUSED, TOO_LARGE, find};
use crate::transition::{PublishFault, Transition};

/// What became of a push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The branch is at our commit.
    Done,
    /// The branch is not where it was expected: fetch and decide again. Nothing was changed.
    Moved,
    /// The remote will not take it, now or later. Nothing was changed.
    Denied(Denial),
    /// The answer was lost, so the commit may be there or not. The text is for the log of a trusted job.
    Unknown(String),
}

/// A commit and what became of its push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publication {
    /// The commit.
    pub commit: Oid,
    /// What became of it.
    pub verdict: Verdict,
}

/// Builds the commit and pushes it, once, under the head that the snapshot was fetched at.
///
/// # Errors
/// [`PublishFault`] when the commit could not be built or the remote not be reached. Nothing was changed then.
// DB-B-04
pub fn publish(snapshot: &Snapshot, transition: &Transition) -> Result<Publication, PublishFault> {
    let commit = transition.build(snapshot)?;
    let branch = reference(snapshot.branch());
    // An empty expectation means: only if the branch does not exist.
    let expected = transition.base().map(|base| base.to_string()).unwrap_or_default();
    let remote = snapshot.remote();
    let mut command = remote.command("push")?.within(snapshot.folder());
    for option in ["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"] {
        command = command.option(option);
    }
    command = command.option(format!("--force-with-lease={branch}:{expected}"));
    let mut report = String::new();
    let run = command.operand(remote.url()).operand(format!("{commit}:{branch}")).lines(|line| {
        report.push_str(&String::from_utf8_lossy(line));
        report.push('\n');
    });
    let verdict = match run {
        Ok(answer) => verdict(&report, &answer.stderr, answer.success(), &branch)?,
        Err(fault @ (GitFault::TimedOut { .. } | GitFault::Oversized { .. } | GitFault::Io(_))) => {
            Verdict::Unknown(fault.to_string())
        }
        Err(fault @ GitFault::Start(_)) => return Err(RemoteFault::from(fault).into()),
    };
    Ok(Publication { commit, verdict })
}

/// Looks whether a commit is the branch's head or behind it. To be asked of a fresh snapshot after
/// [`Verdict::Unknown`], before anything else.
///
/// # Errors
/// [`RemoteFault`] when history could not be fetched: then it is still unknown.
pub fn landed(fresh: &Snapshot, commit: Oid) -> Result<bool, RemoteFault> {
    fresh.is_ancestor(commit)
}

/// Reads the porcelain report: one line `<flag> TAB <from>:<to> TAB <summary>` for our reference.
fn verdict(report: &str, stderr: &str, success: bool, branch: &str) -> Result<Verdict, PublishFault> {
    let ours = report.lines().find_map(|line| {
        let mut fields = line.split('\t');
        let (flag, refs, summary) = (fields.next()?, fields.next()?, fields.next()?);
        (refs.rsplit_once(':')?.1 == branch).then_some((flag, summary))
    });
    if !success
        && ours.is_none_or(|(flag, _)| flag == "!")
        && let Some(denial) = find(LASTING, stderr).or_else(|| find(LASTING, report))
    {
        return Ok(Verdict::Denied(denial));
    }
    match ours {
        Some((flag, _)) if success && flag != "!" => Ok(Verdict::Done),
        Some(("!", summary)) if summary.contains("failed to report status") => Ok(Verdict::Unknown(stderr.to_owned())),
        Some(("!", summary)) => Ok(refusal(summary, stderr)),
        _ => unreported(stderr),
    }
}

fn refusal(summary: &str, stderr: &str) -> Verdict {
    let answer = format!("{stderr}\n{summary}");
    if MOVED.iter().any(|sign| answer.contains(sign)) {
        return Verdict::Moved;
    }
    let denial = find(TOO_LARGE, &answer).or_else(|| find(REFUSED, &answer));
    denial.map_or_else(|| Verdict::Unknown(answer), Verdict::Denied)
}

/// No word about our reference: git failed before, during or after sending.
fn unreported(stderr: &str) -> Result<Verdict, PublishFault> {
    let fault = RemoteFault::from_stderr(stderr);
    match fault.kind() {
        FaultKind::Unauthorized | FaultKind::Forbidden => {
            Ok(find(REFUSED, stderr).map_or_else(|| Verdict::Unknown(stderr.to_owned()), Verdict::Denied))
        }
        // These end the talk before anything is sent.
        FaultKind::BadUrl
        | FaultKind::Certificate
        | FaultKind::NotFound
        | FaultKind::NotARepository
        | FaultKind::Unreachable
        | FaultKind::NoGit
        | FaultKind::Local => Err(fault.into()),
        _ => Ok(find(TOO_LARGE, stderr).map_or_else(|| Verdict::Unknown(stderr.to_owned()), Verdict::Denied)),
    }
}

#[cfg(test)]
mod tests {
    use daybook_testkit::said;

    use super::*;

    const BRANCH: &str = "refs/heads/m";

    fn read(line: &str, stderr: &str) -> Verdict {
        verdict(&format!("To https://h/r\n{line}\nDone\n"), stderr, line.starts_with([' ', '*', '=']), BRANCH).unwrap()
    }

    /// CASES 25: every spelling of a moved head.
    #[test]
    fn races_are_moved_under_every_name_they_have() {
        for reason in [
            "[rejected] (stale info)",
            "[rejected] (fetch first)",
            "[rejected] (non-fast-forward)",
            "[remote rejected] (cannot lock ref 'refs/heads/m': is at 1 but expected 2)",
            "[remote rejected] (cannot lock ref 'refs/heads/m': reference already exists)",
            "[remote rejected] (failed to update ref)",
            "[remote rejected] (incorrect old value provided)",
            "[remote rejected] (expected branch to point to \"1\" but it did not)",
        ] {
            assert_eq!(read(&format!("!\tabc:{BRANCH}\t{reason}"), ""), Verdict::Moved, "{reason}");
        }
    }

    /// CASES 27: a size refusal is denied, not retried.
    #[test]
    fn rules_are_denied_and_named() {
        let table = [
            (
                "remote: error: GH001: Large files detected.",
                "[remote rejected] (pre-receive hook declined)",
                "GH001-large-file",
            ),
            (
                "remote: error: GH006: Protected branch update failed for refs/heads/m.",
                "[remote rejected] (protected branch hook declined)",
                "GH006-protected-branch",
            ),
            (
                "remote: error: GH013: Repository rule violations found for refs/heads/m.\nremote: - Commits must have verified signatures.",
                "[remote rejected] (push declined due to repository rule violations)",
                "GH013-repository-rule",
            ),
            // GH001 is not a race, whatever else the server says.
            (
                "remote: error: GH001: Large files.\nremote: cannot lock ref",
                "[remote rejected] (cannot lock ref)",
                "GH001-large-file",
            ),
            (
                "",
                "[remote rejected] (cannot lock ref 'refs/heads/m': 'refs/heads/m/x' exists; cannot create 'refs/heads/m')",
                "branch-name-taken",
            ),
            ("", "[remote rejected] (pre-receive hook declined)", "hook"),
            (
                "",
                "[remote rejected] (branch is currently checked out: refusing to update checked out branch)",
                "checked-out-branch",
            ),
            (
                "remote: error: GH007: Your push would publish a private email address.",
                "[remote rejected] (push declined due to email privacy restrictions)",
                "GH007-private-email",
            ),
            (
                "remote: error: GH008: Your push referenced at least 1 unknown Git LFS object.",
                "[remote rejected] (pre-receive hook declined)",
                "GH008-large-file-storage",
            ),
            (
                "remote: error: File big.bin is 120 MB; this exceeds the file size limit of 100 MB",
                "[remote rejected] (pre-receive hook declined)",
                "file-size",
            ),
            (
                "remote: fatal: pack exceeds maximum allowed size (2.00 GiB)",
                "[remote rejected] (unpacker error)",
                "push-size",
            ),
            ("", "[remote rejected] (push declined due to repository rule violations)", "repository-rule"),
            ("", "[remote rejected] (protected branch hook declined)", "protected-branch"),
            (
                "",
                "[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission)",
                "workflow-permission",
            ),
            ("", "[remote rejected] (deny updating a hidden ref)", "hidden-reference"),
            ("", "[remote rejected] (shallow update not allowed)", "shallow-update"),
            ("remote: fatal: Authentication failed", "[remote rejected] (pre-receive hook declined)", "credentials"),
            (
                "error: remote unpack failed: unable to create temporary object directory",
                "[remote rejected] (unpacker error)",
                "unpack",
            ),
            ("", "[remote rejected] (something new)", "rejected"),
        ];
        for (stderr, reason, rule) in table {
            match read(&format!("!\tabc:{BRANCH}\t{reason}"), stderr) {
                Verdict::Denied(denial) => assert_eq!(said::code(&denial, |denial| denial.rule), rule, "{reason}"),
                other => panic!("{reason}: {other:?}"),
            }
        }
        // A proxy ends the talk before anything is said of our reference.
        let cut =
            verdict("", "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413", false, BRANCH);
        assert!(matches!(cut, Ok(Verdict::Denied(Denial { rule: "push-size", .. }))), "{cut:?}");
        let signed = read(&format!("!\tabc:{BRANCH}\t{}", table[2].1), table[2].0);
        let Verdict::Denied(denial) = signed else { panic!("{signed:?}") };
        assert!(denial.to_string().contains("Commits must have verified signatures"), "{denial}");
    }

    #[test]
    fn no_word_about_our_reference_is_not_a_success() {
        assert_eq!(read(&format!("*\tabc:{BRANCH}\t[new branch]"), ""), Verdict::Done);
        assert_eq!(read(&format!(" \tabc:{BRANCH}\t1..2"), ""), Verdict::Done);
        // The line of another reference, nothing at all, or an explicit loss.
        for line in [
            " \tabc:refs/heads/other\t1..2",
            "",
            &format!("!\tabc:{BRANCH}\t[remote failure] (remote failed to report status)"),
        ] {
            assert!(
                matches!(read(line, "fatal: the remote end hung up unexpectedly"), Verdict::Unknown(_)),
                "{line:?}"
            );
        }
        let denied =
            verdict("", "fatal: unable to access 'https://h/r/': The requested URL returned error: 403", false, BRANCH);
        assert!(matches!(denied, Ok(Verdict::Denied(Denial { rule: "permission", .. }))), "{denied:?}");
        assert!(verdict("", "fatal: unable to access 'https://h/': Failed to connect to h", false, BRANCH).is_err());
    }
}
