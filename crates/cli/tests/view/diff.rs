//! `diff` between two commits of a branch.

use daybook_core::ShardId;
use daybook_testkit::git::BareRepository;

use crate::support::{chain, codes, commit, document, ids, lines, reference, text};

#[test]
fn records_and_files_that_came_changed_and_went() {
    for format in ["sha1", "sha256"] {
        let home = tempfile::tempdir().unwrap();
        let repository = BareRepository::create(&home.path().join("memory.git"), format);
        let records = chain(&[r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
        let shard = |number: u8, records| {
            let id = ShardId::from_text(&format!("00000000-0000-4000-8000-00000000000{number}")).unwrap();
            (id.path(), lines(records))
        };
        let file = |name: &str, content: &str| (name.to_owned(), content.as_bytes().to_vec());
        let first =
            commit(&repository, "ledgers/a", &[shard(1, &records[..1]), file("a.md", "a\n"), file("b.md", "b\n")]);
        // The records move to another shard, as by a compaction: that is no difference of records.
        let second = commit(&repository, "ledgers/a", &[shard(2, &records), file("b.md", "bb\n"), file("c.md", "c\n")]);
        let stranger = commit(&repository, "ledgers/b", &[file("x.md", "x\n")]);
        let url = repository.url();
        let diff = |range: &str| document(&["diff", &url, range, "--branch", "ledgers/a"]);
        let ranges = [
            format!("{first}..{second}"),
            format!("{}..{}", &first[..8], &second[..8]),
            "HEAD~1..HEAD".to_owned(),
            "HEAD~1..".to_owned(),
        ];
        for range in ranges {
            let (exit, answer) = diff(&range);
            assert_eq!(
                (exit, &answer["from"], &answer["to"]),
                (0, &first.clone().into(), &second.clone().into()),
                "{range}"
            );
            assert_eq!(ids(&answer, "added"), [records[1].id().to_string(), records[2].id().to_string()]);
            assert_eq!(answer["removed"], serde_json::json!([]));
            let expected = serde_json::json!([
                {"path": "b.md", "change": "changed", "before": 2, "after": 3},
                {"path": "c.md", "change": "added", "before": null, "after": 2},
                {"path": "a.md", "change": "deleted", "before": 2, "after": null},
            ]);
            assert_eq!(answer["files"], expected);
        }
        let (_, back) = diff("HEAD..HEAD~1");
        assert_eq!(
            (back["counts"]["records-removed"].as_u64(), back["counts"]["records-added"].as_u64()),
            (Some(2), Some(0))
        );
        assert_eq!(diff("..").1["counts"]["files-changed"], 0);
        let page = text(&["diff", &url, "HEAD~1..HEAD", "--branch", "ledgers/a"]);
        assert!(page.contains("2 records added, 0 removed, 3 files differ") && page.contains("+ ldg-"), "{page}");

        // A commit of another branch, one that is nowhere, and what is no commit at all.
        for wrong in [&stranger, "ffffffff", "HEAD~2", "HEAD~x", "main"] {
            let (exit, answer) = diff(&format!("{wrong}..HEAD"));
            assert_eq!((exit, codes(&answer)), (2, vec!["no-such-commit"]), "{wrong}");
        }
        assert_eq!(codes(&diff("HEAD").1), ["bad-range"]);
        assert_eq!(codes(&diff("--upload-pack=x..HEAD").1), ["usage"]);
    }
    assert_eq!(codes(&document(&["diff", &reference(), "HEAD~1..HEAD"]).1), ["not-a-branch"]);
}
