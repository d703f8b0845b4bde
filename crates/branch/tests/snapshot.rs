//! What a fetched tree hands out.

use daybook_branch::{BranchName, Entry, EntryKind, ReadFault, Remote, Snapshot, TreeBounds};
use daybook_testkit::git::BareRepository;

fn fetch(bare: &BareRepository, branch: &str) -> Snapshot {
    Remote::new(&bare.url(), None).unwrap().fetch(&BranchName::parse(branch).unwrap()).unwrap()
}

fn kinds(entries: &[Entry]) -> Vec<(String, EntryKind)> {
    entries.iter().map(|entry| (String::from_utf8_lossy(&entry.path).into_owned(), entry.kind)).collect()
}

#[test]
fn links_submodules_and_odd_names_are_listed_but_have_no_content() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["sha1", "sha256"] {
        let bare = BareRepository::create(&folder.path().join(format), format);
        let blob = bare.blob(b"hello");
        let commit = bare.commit_files("other", &[("z", b"z")]);
        let inner = bare.tree(&[("100644", "blob", &blob, "config")]);
        let tree = bare.tree(&[
            ("100644", "blob", &blob, "../escape"),
            ("40000", "tree", &inner, ".git"),
            ("100644", "blob", &blob, "a"),
            ("100644", "blob", &blob, "a"),
            ("100755", "blob", &blob, "exec"),
            ("120000", "blob", &blob, "link"),
            ("160000", "commit", &commit, "module"),
        ]);
        bare.commit_tree("m", &tree);
        let snapshot = fetch(&bare, "m");
        let entries = snapshot.entries(TreeBounds::default()).unwrap();
        let expected = [
            ("../escape", EntryKind::BadName),
            ("a", EntryKind::File),
            ("a", EntryKind::BadName),
            ("exec", EntryKind::Executable),
            ("link", EntryKind::Symlink),
            ("module", EntryKind::Submodule),
            (".git/config", EntryKind::File),
        ];
        assert_eq!(kinds(&entries), expected.map(|(path, kind)| (path.to_owned(), kind)));
        for entry in &entries {
            match snapshot.content(entry, 5) {
                Ok(content) => assert!(entry.kind.is_regular() && content == b"hello"),
                Err(ReadFault::NotRegular) => assert!(!entry.kind.is_regular()),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(snapshot.read("exec", 5).unwrap().as_deref(), Some(&b"hello"[..]));
        assert!(matches!(snapshot.read("exec", 4), Err(ReadFault::TooLarge { bytes: 5, max: 4 })));
        assert!(matches!(snapshot.read("link", 5), Err(ReadFault::NotRegular)));
        assert_eq!(snapshot.read("nothing/here", 5).unwrap(), None);
    }
}

#[test]
fn a_tree_that_repeats_itself_ends_at_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let blob = bare.blob(b"x");
    let names: Vec<String> = (0..10).map(|n| format!("d{n}")).collect();
    let mut tree = bare.tree(&[("100644", "blob", &blob, "f")]);
    // Ten to the ninth files in ten objects.
    for _ in 0..9 {
        let rows: Vec<_> = names.iter().map(|name| ("40000", "tree", tree.as_str(), name.as_str())).collect();
        tree = bare.tree(&rows);
    }
    bare.commit_tree("m", &tree);
    let snapshot = fetch(&bare, "m");
    let bounds = TreeBounds { entries: 5_000, depth: 32 };
    assert!(matches!(snapshot.entries(bounds), Err(ReadFault::TooManyEntries { max: 5_000 })));
    assert!(matches!(snapshot.entries(TreeBounds { entries: 5_000, depth: 3 }), Err(ReadFault::TooDeep { max: 3 })));
}

#[test]
fn ancestry_is_answered_from_history_that_a_snapshot_does_not_have_at_first() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["sha1", "sha256"] {
        let bare = BareRepository::create(&folder.path().join(format), format);
        let first = bare.commit_files("m", &[("a", b"0")]);
        let tree = bare.git(&["rev-parse", "m^{tree}"]);
        let mut last = first.clone();
        for _ in 0..80 {
            last = bare.git(&["commit-tree", &tree, "-p", &last, "-m", "x"]);
        }
        bare.git(&["update-ref", "refs/heads/m", &last]);
        let stranger = bare.commit_files("other", &[("b", b"1")]);

        let snapshot = fetch(&bare, "m");
        assert!(snapshot.is_ancestor(last.parse().unwrap()).unwrap());
        assert!(snapshot.folder().join("shallow").exists(), "history came along unasked");
        assert!(snapshot.is_ancestor(first.parse().unwrap()).unwrap());
        assert!(!snapshot.is_ancestor(stranger.parse().unwrap()).unwrap());
        assert!(!snapshot.is_ancestor("ab".repeat(20).parse().unwrap()).unwrap());
        assert_eq!(snapshot.head().unwrap().to_string(), last);

        // A history that cannot be fetched is an error, not a "no".
        let again = fetch(&bare, "m");
        std::fs::rename(bare.path(), folder.path().join(format!("{format}-gone"))).unwrap();
        assert!(again.is_ancestor(first.parse().unwrap()).is_err());
    }
}

#[test]
fn the_private_repository_ends_with_the_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    bare.commit_files("m", &[("a", b"0")]);
    let snapshot = fetch(&bare, "m");
    let place = snapshot.folder().to_owned();
    assert!(place.is_dir());
    drop(snapshot);
    assert!(!place.exists());
}

#[test]
fn a_refreshed_snapshot_is_the_branch_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let snapshot = fetch(&bare, "m").refresh().unwrap();
    assert_eq!(snapshot.head(), None);
    let first = bare.commit_files("m", &[("a", b"1")]);
    let snapshot = snapshot.refresh().unwrap();
    assert_eq!(snapshot.head().unwrap().to_string(), first);
    let second = bare.commit_files("m", &[("a", b"2")]);
    let snapshot = snapshot.refresh().unwrap();
    assert_eq!(snapshot.head().unwrap().to_string(), second);
    assert_eq!(snapshot.read("a", 1).unwrap().as_deref(), Some(&b"2"[..]));
    assert!(snapshot.is_ancestor(first.parse().unwrap()).unwrap());
    // Set back to something else, then deleted.
    let other = bare.commit_files("other", &[("b", b"3")]);
    bare.git(&["update-ref", "refs/heads/m", &other]);
    let snapshot = snapshot.refresh().unwrap();
    assert_eq!(snapshot.head().unwrap().to_string(), other);
    assert!(!snapshot.is_ancestor(first.parse().unwrap()).unwrap());
    bare.git(&["update-ref", "-d", "refs/heads/m"]);
    assert_eq!(snapshot.refresh().unwrap().head(), None);
}
