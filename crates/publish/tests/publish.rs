//! Pushes against real bare repositories.

use std::thread;

use daybook_branch::{BranchName, Remote, Snapshot};
use daybook_core::MemoryPath;
use daybook_publish::{PublishFault, Transition, Verdict, landed, publish};
use daybook_runner::{Exit, Stop};
use daybook_testkit::git::BareRepository;
use daybook_testkit::said;

const BRANCH: &str = "ledgers/m";

fn name() -> BranchName {
    BranchName::parse(BRANCH).unwrap()
}

fn fetch(bare: &BareRepository) -> Snapshot {
    Remote::new(&bare.url(), None).unwrap().fetch(&name()).unwrap()
}

fn put(snapshot: &Snapshot, path: &str, content: &str) -> Transition {
    let mut transition = Transition::on(snapshot.head(), &format!("put {path}"));
    transition.put(MemoryPath::parse(path).unwrap(), content.as_bytes().to_vec());
    transition
}

#[test]
fn a_commit_lands_on_an_absent_branch_and_then_on_itself_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["sha1", "sha256"] {
        let bare = BareRepository::create(&folder.path().join(format), format);
        let first = fetch(&bare);
        let publication = publish(&first, &put(&first, "a/b.txt", "1")).unwrap();
        assert_eq!(publication.verdict, Verdict::Done);
        assert_eq!(bare.head(BRANCH).unwrap(), publication.commit.to_string());

        let second = fetch(&bare);
        let mut transition = put(&second, "a/c.txt", "2");
        transition.delete(MemoryPath::parse("a/b.txt").unwrap());
        transition.delete(MemoryPath::parse("not/there").unwrap());
        assert_eq!(publish(&second, &transition).unwrap().verdict, Verdict::Done);
        assert_eq!(bare.listing(BRANCH), ["100644 a/c.txt"]);
        let shape = bare.git(&["log", "-1", "--format=%an <%ae>%n%P%n%s", BRANCH]);
        assert_eq!(
            shape,
            format!(
                "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>\n{}\nput a/c.txt",
                publication.commit
            )
        );
        bare.git(&["fsck", "--strict"]);
    }
}

#[test]
fn the_tree_depends_on_nothing_but_base_and_changes_and_keeps_what_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let blob = bare.blob(b"x");
    let inner = bare.tree(&[("100644", "blob", &blob, "config")]);
    let tree = bare.tree(&[
        ("40000", "tree", &inner, ".git"),
        ("100755", "blob", &blob, "exec"),
        ("120000", "blob", &blob, "link"),
    ]);
    bare.commit_tree(BRANCH, &tree);
    let build = || {
        let snapshot = fetch(&bare);
        let commit = put(&snapshot, "n/new", "1").build(&snapshot).unwrap();
        snapshot.repository().find_commit(commit.raw()).unwrap().tree_id()
    };
    let built = build();
    assert_eq!(built, build());
    let snapshot = fetch(&bare);
    publish(&snapshot, &put(&snapshot, "n/new", "1")).unwrap();
    assert_eq!(bare.listing(BRANCH), ["100644 .git/config", "100755 exec", "120000 link", "100644 n/new"]);
}

#[test]
fn a_file_never_replaces_a_folder_nor_goes_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let blob = bare.blob(b"/etc");
    let inner = bare.tree(&[("100644", "blob", &blob, "f")]);
    let tree = bare.tree(&[("40000", "tree", &inner, "folder"), ("120000", "blob", &blob, "ledger")]);
    let before = bare.commit_tree(BRANCH, &tree);
    let snapshot = fetch(&bare);
    for path in ["folder", "ledger/shards/x", "folder/f/x"] {
        let refused = publish(&snapshot, &put(&snapshot, path, "1"));
        assert!(matches!(refused, Err(PublishFault::Occupied(_))), "{path}: {refused:?}");
    }
    assert_eq!(bare.head(BRANCH).unwrap(), before);
    assert_eq!(publish(&snapshot, &put(&snapshot, "folder/g", "1")).unwrap().verdict, Verdict::Done);
}

// DB-B-04
#[test]
fn a_moved_branch_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    // Both saw an absent branch.
    let (ours, theirs) = (fetch(&bare), fetch(&bare));
    assert_eq!(publish(&theirs, &put(&theirs, "theirs", "1")).unwrap().verdict, Verdict::Done);
    assert_eq!(publish(&ours, &put(&ours, "ours", "1")).unwrap().verdict, Verdict::Moved);
    // Both saw the same head.
    let (ours, theirs) = (fetch(&bare), fetch(&bare));
    assert_eq!(publish(&theirs, &put(&theirs, "more", "1")).unwrap().verdict, Verdict::Done);
    assert_eq!(publish(&ours, &put(&ours, "ours", "1")).unwrap().verdict, Verdict::Moved);
    assert_eq!(bare.listing(BRANCH), ["100644 more", "100644 theirs"]);
    // A transition cannot be pushed under a head it was not decided on.
    let fresh = fetch(&bare);
    let other = publish(&fresh, &put(&ours, "ours", "1")).unwrap_err();
    assert!(matches!(other, PublishFault::OtherBase), "{other:?}");
    let stop = Stop::from(other);
    said::keep(stop.code, &stop.message);
    assert_eq!((stop.exit, stop.code), (Exit::Internal, "commit-not-built"));
    assert_eq!(publish(&fresh, &put(&fresh, "ours", "1")).unwrap().verdict, Verdict::Done);
    assert_eq!(bare.git(&["rev-list", "--count", BRANCH]), "3");
}

// DB-B-04
#[test]
fn of_writers_at_once_one_lands_and_the_others_know() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    bare.commit_files(BRANCH, &[("base", b"0")]);
    let verdicts: Vec<Verdict> = thread::scope(|scope| {
        let snapshots: Vec<Snapshot> = (0..6).map(|_| fetch(&bare)).collect();
        let writers: Vec<_> = snapshots
            .into_iter()
            .enumerate()
            .map(|(number, snapshot)| {
                scope.spawn(move || publish(&snapshot, &put(&snapshot, &format!("w{number}"), "1")).unwrap().verdict)
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Done).count(), 1, "{verdicts:?}");
    assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Done | Verdict::Moved)), "{verdicts:?}");
    assert_eq!(bare.git(&["rev-list", "--count", BRANCH]), "2");
}

#[test]
fn a_refusal_names_its_rule_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let before = bare.commit_files(BRANCH, &[("base", b"0")]);
    let refused = "echo 'error: GH013: Repository rule violations found for refs/heads/ledgers/m.' >&2; echo '- Commits must have verified signatures.' >&2; exit 1";
    bare.hook("pre-receive", refused);
    let snapshot = fetch(&bare);
    match publish(&snapshot, &put(&snapshot, "x", "1")).unwrap().verdict {
        Verdict::Denied(denial) => {
            assert_eq!(denial.rule, "GH013-repository-rule");
            assert!(denial.said.contains("verified signatures"), "{denial}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bare.head(BRANCH).unwrap(), before);
    bare.remove_hook("pre-receive");
    assert_eq!(publish(&snapshot, &put(&snapshot, "x", "1")).unwrap().verdict, Verdict::Done);
}

/// What git's own server refuses, by its own configuration and in its own words.
#[test]
fn each_refusal_of_a_real_server_has_its_code_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (settings, rule) in [
        (&[("receive.maxInputSize", "10")][..], "push-size"),
        (&[("receive.hideRefs", "refs/heads/ledgers")], "hidden-reference"),
        // The program that stores objects does not start.
        (&[("receive.fsckObjects", "true"), ("receive.fsck.skipList", "/no/such/list")], "unpack"),
    ] {
        let bare = BareRepository::create(&folder.path().join(rule), "sha1");
        let snapshot = fetch(&bare);
        for (key, value) in settings {
            bare.git(&["config", key, value]);
        }
        let stop = match publish(&snapshot, &put(&snapshot, "x", "1")).unwrap().verdict {
            Verdict::Denied(denial) => Stop::from(denial),
            other => panic!("{rule}: {other:?}"),
        };
        assert_eq!((stop.exit, stop.code), (Exit::Denied, rule), "{}", stop.message);
        assert_eq!(bare.head(BRANCH), None);
        for (key, _) in settings {
            bare.git(&["config", "--unset", key]);
        }
        assert_eq!(publish(&snapshot, &put(&snapshot, "x", "1")).unwrap().verdict, Verdict::Done);
    }
}

// DB-B-05
#[test]
fn a_lost_answer_is_looked_up_before_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    bare.commit_files(BRANCH, &[("base", b"0")]);
    // The server dies after the branch has moved, before it says so.
    bare.hook("reference-transaction", "if [ \"$1\" = committed ]; then kill -9 $PPID; fi");
    let snapshot = fetch(&bare);
    let publication = publish(&snapshot, &put(&snapshot, "x", "1")).unwrap();
    assert!(matches!(publication.verdict, Verdict::Unknown(_)), "{:?}", publication.verdict);
    assert!(landed(&fetch(&bare), publication.commit).unwrap());
    bare.remove_hook("reference-transaction");

    // The server dies before the branch moves.
    bare.hook("pre-receive", "kill -9 $PPID");
    let snapshot = fetch(&bare);
    let publication = publish(&snapshot, &put(&snapshot, "y", "1")).unwrap();
    assert!(matches!(publication.verdict, Verdict::Unknown(_)), "{:?}", publication.verdict);
    assert!(!landed(&fetch(&bare), publication.commit).unwrap());
    bare.remove_hook("pre-receive");
}
