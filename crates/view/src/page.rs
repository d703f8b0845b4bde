//! The report: one page that holds a ledger and asks nobody for anything.
//!
//! Data lies in blocks of JSON that no browser runs; the one script and the one style are named by their digests in the
//! page's Content-Security-Policy, and nothing else may run or be loaded. The script writes text only as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daybook_core::Digest;
use serde_json::{Value, json};

use crate::row::Row;

const STYLE: &str = include_str!("../page/page.css");
const SCRIPT: &str = include_str!("../page/page.js");
const BODY: &str = include_str!("../page/body.html");

/// Records of one block: few enough that reading one is no long task.
pub const BLOCK: usize = 500;

/// The page up to its first block of records; `meta` is what the overview shows.
#[must_use]
pub fn head(meta: &Value) -> String {
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Digest::of(text.as_bytes()).as_bytes()));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Daybook report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"application/json\" id=\"meta\">{}</script>\n",
        source(STYLE),
        source(SCRIPT),
        inert(meta)
    )
}

/// One block of records.
#[must_use]
pub fn block(rows: &[Row]) -> String {
    let mut shards: Vec<String> = Vec::new();
    let mut listed = Vec::with_capacity(rows.len());
    for Row { record, location } in rows {
        let name = location.shard.to_string();
        let shard = shards.iter().position(|shard| *shard == name).unwrap_or_else(|| {
            shards.push(name);
            shards.len() - 1
        });
        let parents: Vec<String> = record.parents().iter().map(ToString::to_string).collect();
        listed.push(json!([
            record.id().to_string(),
            record.sha().to_string(),
            record.kind(),
            record.timestamp(),
            parents,
            shard,
            location.line
        ]));
    }
    let payloads: Vec<&str> = rows.iter().map(|row| row.record.payload_text()).collect();
    let data = json!({"rows": listed, "shards": shards, "payloads": payloads});
    format!("<script type=\"application/json\" class=\"block\">{}</script>\n", inert(&data))
}

/// The rest of the page.
#[must_use]
pub fn tail() -> String {
    format!("<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// JSON that no reader of HTML takes for a tag or a comment.
fn inert(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_holds_no_markup_and_means_the_same() {
        let data = json!({"a": "</script><script>alert(1)</script><!--&amp;"});
        let text = inert(&data);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }

    #[test]
    fn the_policy_lets_one_script_and_one_style_in() {
        let page = head(&json!({})) + &tail();
        assert!(page.contains("default-src 'none'; style-src 'sha256-") && !page.contains("unsafe-"));
        // The parts that are copied into elements must not end them.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</style"));
        let text_only = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("];
        assert!(text_only.iter().all(|way| !SCRIPT.contains(way)));
        assert!(
            !SCRIPT.contains("http") || SCRIPT.matches("http").count() == 1,
            "the namespace of SVG, and nothing else"
        );
    }
}
