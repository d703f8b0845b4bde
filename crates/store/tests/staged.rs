//! Staged memories: what is packed comes back, and hostile folders and tars lose nothing but themselves.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use daybook_core::MemoryPath;
use daybook_store::staged::{Bounds, Manifest, Staged, Writer, read, walk};
use tar::{Builder, EntryType, Header};

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

type Files = Vec<(String, Vec<u8>)>;

fn read_all(tar: &[u8], bounds: &Bounds) -> (Staged, Files) {
    let mut files = Vec::new();
    let staged = read(tar, "m", bounds, |path, content| files.push((path.to_string(), content)));
    (staged, files)
}

fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "m");
    for (name, content) in files {
        writer.add(&path(name), content).unwrap();
    }
    writer.finish(true).unwrap().0
}

/// A tar of entries with any name and type, and a manifest that says that it is complete.
fn forge(entries: &[(&str, EntryType, &[u8])], count: u64, bytes: u64) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    let manifest =
        format!(r#"{{"bytes":{bytes},"complete":true,"entries":{count},"memory":"m","refused":[],"version":1}}"#);
    let mut header = Header::new_gnu();
    header.set_size(manifest.len() as u64);
    header.set_cksum();
    tar.append_data(&mut header, "manifest.json", manifest.as_bytes()).unwrap();
    tar.into_inner().unwrap()
}

#[test]
fn what_is_packed_comes_back_and_the_bytes_depend_on_nothing_else() {
    let long = format!("{}/{}.json", "d".repeat(200), "ö".repeat(100));
    let files: [(&str, &[u8]); 4] =
        [("2026-07-01T10:00:00Z.json", b"{}"), (&long, b"long"), ("ledger/shards/x", b""), ("z \"q\".md", b"\x00\xff")];
    let tar = pack(&files);
    assert_eq!(tar, pack(&files));
    let (staged, found) = read_all(&tar, &Bounds::default());
    assert_eq!(found, files.map(|(name, content)| (name.to_owned(), content.to_vec())));
    assert!(staged.is_complete() && staged.refused.is_empty());
    assert_eq!((staged.entries, staged.bytes), (4, 8));
}

#[test]
fn files_out_of_order_are_a_mistake_of_the_writer() {
    let mut writer = Writer::new(Vec::new(), "m");
    writer.add(&path("b"), b"").unwrap();
    assert!(writer.add(&path("b"), b"").is_err());
    assert!(writer.add(&path("a"), b"").is_err());
    writer.add(&path("c"), b"").unwrap();
}

#[test]
fn hostile_entries_are_refused_by_number_and_the_good_ones_are_kept() {
    let huge_name = [b"files/".as_slice(), &[b'x'; 5000]].concat();
    let rows: [(&str, EntryType, &[u8], &str); 15] = [
        ("files/../../etc/passwd", EntryType::Regular, b"x", "path-traversal"),
        ("/etc/passwd", EntryType::Regular, b"x", "outside-files"),
        ("files//etc/passwd", EntryType::Regular, b"x", "path-traversal"),
        ("files/.git/config", EntryType::Regular, b"x", "path-reserved"),
        ("files/.GitHub/workflows/w.yml", EntryType::Regular, b"x", "path-reserved"),
        ("files/a\nb", EntryType::Regular, b"x", "path-character"),
        ("other", EntryType::Regular, b"x", "outside-files"),
        ("files/link", EntryType::Symlink, b"", "link"),
        ("files/hard", EntryType::Link, b"", "link"),
        ("files/pipe", EntryType::Fifo, b"", "not-regular"),
        ("files/disk", EntryType::Block, b"", "not-regular"),
        ("files/folder", EntryType::Directory, b"", "folder"),
        ("pax", EntryType::XHeader, b"20 path=/etc/passwd\n", "extended-header"),
        ("global", EntryType::XGlobalHeader, b"20 path=/etc/passwd\n", "extended-header"),
        ("long", EntryType::GNULongName, &huge_name, "path-too-long"),
    ];
    for (name, kind, content, reason) in rows {
        let entries = [
            ("files/a", EntryType::Regular, b"good".as_slice()),
            (name, kind, content),
            ("files/m", EntryType::Regular, b"next".as_slice()),
            ("files/z", EntryType::Regular, b"good".as_slice()),
        ];
        let (staged, files) = read_all(&forge(&entries, 3, 12), &Bounds::default());
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        // What a strange header says about the entry after it is not believed, and neither is that entry.
        let speaks_of_next = matches!(kind, EntryType::XHeader | EntryType::GNULongName);
        assert_eq!(names, if speaks_of_next { vec!["a", "z"] } else { vec!["a", "m", "z"] }, "{name}");
        let refused: Vec<_> = staged.refused.iter().map(|refused| (refused.number, refused.reason)).collect();
        assert_eq!(refused, [(1, reason)], "{name}");
        assert!(!staged.is_complete(), "{name}: what was refused may have been any file");
    }
    let (staged, _) = read_all(&forge(&[("files/a", EntryType::Regular, b"good")], 1, 4), &Bounds::default());
    assert!(staged.is_complete(), "the forged tar without a hostile entry is a good one");
}

#[test]
fn repeated_names_keep_the_first_and_wrong_counts_are_not_complete() {
    let twice = [("files/a", EntryType::Regular, b"1".as_slice()), ("files/a", EntryType::Regular, b"2".as_slice())];
    let (staged, files) = read_all(&forge(&twice, 1, 1), &Bounds::default());
    assert_eq!(files, [("a".to_owned(), b"1".to_vec())]);
    assert_eq!(staged.refused[0].reason, "duplicate");
    assert!(!staged.is_complete());

    let once = [("files/a", EntryType::Regular, b"1".as_slice())];
    for (count, bytes) in [(2, 1), (1, 2), (0, 0)] {
        assert!(!read_all(&forge(&once, count, bytes), &Bounds::default()).0.is_complete());
    }
    let mut of_other = Vec::new();
    let staged = read(pack(&[("a", b"1")]).as_slice(), "other", &Bounds::default(), |path, _| of_other.push(path));
    assert!(!staged.is_complete(), "the manifest is of another memory");
}

#[test]
fn a_manifest_that_is_not_last_is_none() {
    let mut tar = forge(&[("files/a", EntryType::Regular, b"1")], 1, 1);
    tar.truncate(tar.len() - 1024);
    tar.extend(forge(&[("files/b", EntryType::Regular, b"2")], 2, 2));
    let (staged, files) = read_all(&tar, &Bounds::default());
    assert_eq!(files.len(), 2);
    assert!(!staged.is_complete());
}

#[test]
fn a_tar_that_breaks_off_or_is_none_gives_what_came_before() {
    let whole = pack(&[("a", &[b'x'; 700]), ("b", b"y")]);
    for cut in [0, 1, 511, 512, 700, 1024, 1536, 1600, 2048, 2600] {
        let (staged, files) = read_all(&whole[..cut], &Bounds::default());
        assert!(!staged.is_complete(), "{cut}");
        assert!(files.iter().all(|(_, content)| content.len() == 700 || content.len() == 1), "{cut}");
    }
    let (staged, files) = read_all(&[b'?'; 4096], &Bounds::default());
    assert!(files.is_empty() && staged.refused_total == 1 && !staged.is_complete());
    assert!(!read_all(&[0; 1024], &Bounds::default()).0.is_complete());
}

#[test]
fn bounds_hold_before_anything_is_read_into_memory() {
    let tar = pack(&[("a", &[b'x'; 100]), ("b", &[b'x'; 50]), ("c", &[b'x'; 50])]);
    let all = Bounds::default();
    for (bounds, names, reason) in [
        (Bounds { file_bytes: 60, ..all }, vec!["b", "c"], "too-large"),
        (Bounds { total_bytes: 150, ..all }, vec!["a", "b"], "over-total"),
        (Bounds { entries: 2, ..all }, vec!["a", "b"], "too-many-entries"),
    ] {
        let (staged, files) = read_all(&tar, &bounds);
        let found: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, names);
        assert_eq!(staged.refused[0].reason, reason);
        assert!(!staged.is_complete());
    }
    // A header that promises more than any machine has.
    let mut header = Header::new_gnu();
    header.set_path("files/a").unwrap();
    header.set_size(u64::MAX / 2);
    header.set_cksum();
    let (staged, files) = read_all(header.as_bytes(), &all);
    assert!(files.is_empty() && !staged.is_complete());
}

// DB-B-08
#[test]
fn absence_means_deletion_only_where_nothing_could_hide_it() {
    let deleted = |complete, refused: &[&str]| {
        let mut writer = Writer::new(Vec::new(), "m");
        for refused in refused {
            writer.refuse(refused, "link");
        }
        let (staged, _) = read_all(&writer.finish(complete).unwrap().0, &Bounds::default());
        ["notes/a.md", "notes/b.md", "ledger/shards/x", "notebook"].map(|name| staged.is_deleted(&path(name)))
    };
    assert_eq!(deleted(true, &[]), [true, true, false, true]);
    assert_eq!(deleted(true, &["notes/a.md"]), [false, true, false, true]);
    assert_eq!(deleted(true, &["notes"]), [false, false, false, true]);
    assert_eq!(deleted(false, &[]), [false; 4]);
    let many: Vec<String> = (0..1001).map(|number| format!("x{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(deleted(true, &many), [false; 4], "not all that was refused could be named");
}

#[test]
fn a_folder_is_listed_without_following_anything_out_of_it() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("ledger/shards")).unwrap();
    fs::write(at("ledger/shards/one"), "1").unwrap();
    fs::write(at("a:b\".json"), "{}").unwrap();
    fs::create_dir_all(at(".git")).unwrap();
    fs::write(at(".git/config"), "[core]").unwrap();
    symlink(outside.path().join("secret"), at("link")).unwrap();
    symlink(outside.path(), at("folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();

    let listed = walk(folder.path());
    let files: Vec<(&str, u64)> = listed.files.iter().map(|found| (found.path.as_str(), found.bytes)).collect();
    assert_eq!(files, [("a:b\".json", 2), ("ledger/shards/one", 1)]);
    let mut refused = listed.refused.clone();
    refused.sort();
    let expected = [
        (".git", "path-reserved"),
        ("bad\u{fffd}", "path-not-utf8"),
        ("folder", "link"),
        ("link", "link"),
        ("pipe", "not-regular"),
    ];
    assert_eq!(refused, expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert!(listed.complete);
    assert_eq!(listed.read(&path("ledger/shards/one"), 1).unwrap(), Some(b"1".to_vec()));
    assert_eq!(listed.read(&path("ledger/shards/one"), 0).unwrap(), None);

    // Swapped between listing and reading.
    fs::remove_file(at("a:b\".json")).unwrap();
    symlink(outside.path().join("secret"), at("a:b\".json")).unwrap();
    assert!(listed.read(&path("a:b\".json"), 100).is_err());
    fs::remove_dir_all(at("ledger")).unwrap();
    fs::create_dir_all(outside.path().join("shards")).unwrap();
    fs::write(outside.path().join("shards/one"), "secret").unwrap();
    symlink(outside.path(), at("ledger")).unwrap();
    assert!(listed.read(&path("ledger/shards/one"), 100).is_err());
}

#[test]
fn a_folder_that_is_none_is_empty_and_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    symlink(folder.path(), folder.path().join("link")).unwrap();
    for name in ["missing", "link"] {
        let listed = walk(&folder.path().join(name));
        assert!(listed.files.is_empty() && !listed.complete, "{name}");
    }
    assert!(walk(Path::new("/dev/null")).files.is_empty());
    assert!(walk(folder.path()).complete);
}

#[test]
fn a_manifest_is_canonical_and_strict() {
    let mut writer = Writer::new(Vec::new(), "m");
    writer.refuse("b\u{1b}", "link");
    writer.refuse("a", "link");
    let (_, manifest): (_, Manifest) = writer.finish(true).unwrap();
    assert_eq!(manifest.refused.iter().map(|refused| refused.path.as_str()).collect::<Vec<_>>(), ["a", "b\u{1b}"]);
}
