//! `report`: the page as a file. A browser uses it in `scripts/report.sh`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::{chain, codes, document, reference, write};

/// The texts of all blocks of data whose opening tag holds `mark`.
fn data(page: &str, mark: &str) -> Vec<Value> {
    let blocks = page.split("<script type=\"application/json\" ").skip(1).filter(|block| block.starts_with(mark));
    blocks
        .map(|block| serde_json::from_str(block.split_once('>').unwrap().1.split_once("</script>").unwrap().0).unwrap())
        .collect()
}

#[test]
fn the_page_holds_every_record_and_nothing_that_loads() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("report.html");
    let (exit, answer) = document(&["report", &reference(), "--html", file.to_str().unwrap()]);
    assert_eq!((exit, &answer["counts"]["records"]), (0, &1000.into()));
    let page = fs::read_to_string(&file).unwrap();
    let rows: usize = data(&page, "class").iter().map(|block| block["rows"].as_array().unwrap().len()).sum();
    assert_eq!((rows, &data(&page, "id=\"meta\"")[0]["records"]), (1000, &1000.into()));
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("@import") && !page.contains("url("));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn hostile_payloads_and_types_stay_data() {
    let home = tempfile::tempdir().unwrap();
    let memory = home.path().join("memory");
    let evil = r#"{"a":"</script><script>alert(1)</script><!--","b":"&lt;\u2028"}"#;
    write(&memory, &chain(&[evil]));
    let file = home.path().join("report.html");
    assert_eq!(document(&["report", memory.to_str().unwrap(), "--html", file.to_str().unwrap()]).0, 0);
    let page = fs::read_to_string(&file).unwrap();
    // The page's own: two blocks of data and the one script.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (3, 3));
    assert!(!page.contains("<!--") && !page.contains("alert(1)</"));
    let payload = data(&page, "class")[0]["payloads"][0].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&payload).unwrap(), serde_json::from_str::<Value>(evil).unwrap());

    // What cannot be written leaves the page that is there.
    let (exit, answer) = document(&["report", &memory.join("x").to_string_lossy(), "--html", file.to_str().unwrap()]);
    assert_eq!((exit, codes(&answer)), (2, vec!["no-such-folder"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
}
