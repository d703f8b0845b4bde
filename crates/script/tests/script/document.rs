//! The examples of the documentation are scripts that work.

use std::fs;

use daybook_core::ShardId;
use daybook_script::{Fault, Foreign, Limits, Script, SegmentFacts};
use serde_json::json;

use crate::support::{World, sandboxes};

/// The first block of JavaScript of a page.
fn example(page: &str) -> String {
    let text = fs::read_to_string(format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"))).expect(page);
    let block = text.split("```js\n").nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_else(|| panic!("{page} has an example")).to_owned()
}

#[test]
fn the_validation_example_takes_good_trees_and_says_what_is_wrong_with_others() {
    let source = example("validation-script.md");
    for sandbox in sandboxes() {
        let world = World::new();
        fs::write(world.tree().join("facts/two.json"), r#"{"source":"https://example.com/a","text":"a fact"}"#)
            .unwrap();
        fs::remove_file(world.tree().join("facts/one.json")).unwrap();
        assert_eq!(world.validate(sandbox, &source, &Limits::default()).answer, Ok(()));
        fs::write(world.tree().join("facts/three.json"), r#"{"text":"a fact"}"#).unwrap();
        let said = Foreign::new("facts/three.json: a fact needs text and source");
        assert_eq!(world.validate(sandbox, &source, &Limits::default()).answer, Err(Fault::Threw(said)));
    }
}

#[test]
fn the_selection_example_chooses_small_segments() {
    let source = example("selection-script.md");
    let segments: Vec<SegmentFacts> = (1..=9)
        .map(|number| SegmentFacts {
            id: ShardId::from_text(&format!("00000000-0000-4000-8000-00000000000{number}")).unwrap(),
            bytes: number * 10_000,
            records: number,
        })
        .collect();
    for sandbox in sandboxes() {
        let script = Script::new(source.clone()).unwrap();
        let ran = sandbox.select(&script, &Limits::default(), &segments, &json!({ "max-segments": 4 }));
        let small: Vec<String> = segments.iter().take(4).map(|segment| segment.id.to_string()).collect();
        assert_eq!(ran.answer, Ok(small), "{:?}", ran.output);
    }
}
