//! Every requirement of `SPEC.md` has a test, every id that a comment names is in it, and the map is of today.

use std::fs;

use daybook_testkit::requirements::{MAP, Places, Specification, gaps, map};
use daybook_testkit::sources::{self, Source};
use daybook_testkit::vectors::repository;

fn specification() -> Specification {
    Specification::parse(&fs::read_to_string(repository().join("SPEC.md")).expect("SPEC.md is readable"))
}

/// Sources but this file and the module that reads them: their comments tell of ids without naming any.
fn places() -> Places {
    Places::in_sources(
        &sources::rust().into_iter().filter(|source| !source.path.contains("/requirements.rs")).collect::<Vec<_>>(),
    )
}

#[test]
fn specification_code_and_tests_fit() {
    let (specification, places) = (specification(), places());
    assert!(specification.requirements.len() > 140, "{}", specification.requirements.len());
    let gaps = gaps(&specification, &places);
    assert!(gaps.is_empty(), "\n{}", gaps.join("\n"));
}

#[test]
fn the_map_is_what_comments_say() {
    let made = map(&specification(), &places());
    let path = repository().join(MAP);
    if std::env::var_os("DAYBOOK_BLESS").is_some() {
        fs::write(&path, &made).expect("the map is written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "{MAP} is old; make it again with DAYBOOK_BLESS=1 and look at the difference");
}

/// Each kind of gap is seen, in a small world of its own.
#[test]
fn every_kind_of_gap_is_found() {
    let spec = "| DB-1-01 | MUST | a |\n| DB-1-02 | MUST | b |\n## Not yet\n\n- DB-1-02\n";
    let source = |text: &str| vec![Source { path: "crates/x/src/lib.rs".to_owned(), text: text.to_owned() }];
    let good = "/// Does.\n// DB-1-01\npub fn does() {}\n\n// DB-1-01\n#[test]\nfn holds() {\n    does();\n}\n";
    let told = |spec: &str, text: &str| gaps(&Specification::parse(spec), &Places::in_sources(&source(text)));
    assert_eq!(told(spec, good), [""; 0]);
    let places = Places::in_sources(&source(good));
    assert_eq!(places.code["DB-1-01"].first().map(String::as_str), Some("crates/x/src/lib.rs `does`"));
    assert_eq!(places.tests["DB-1-01"].first().map(String::as_str), Some("crates/x/src/lib.rs `holds`"));

    let without_test = good.replace("// DB-1-01\n#[test]", "#[test]");
    assert_eq!(told(spec, &without_test), ["DB-1-01 has no test"]);
    let unknown = good.replace("// DB-1-01\npub", "// DB-1-07\npub");
    assert_eq!(told(spec, &unknown), ["DB-1-07 is not in SPEC.md"]);
    let stale = good.replace("    does();", "    // DB-1-02 too.\n    does();");
    assert_eq!(told(spec, &stale).len(), 1);
    assert!(told(spec, &stale)[0].contains("Not yet"));
    assert_eq!(
        told(&spec.replace("- DB-1-02", "- DB-1-03"), good),
        ["DB-1-02 has no test", "DB-1-03 is not in SPEC.md"]
    );
    assert_eq!(told(&format!("| DB-1-01 | MUST | a |\n{spec}"), good), ["DB-1-01 stands in SPEC.md twice"]);
}
