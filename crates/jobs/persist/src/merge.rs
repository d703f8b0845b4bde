//! Three versions of an ordinary file: what the run started from, what it left, and what is on the branch by now.
//!
//! Nothing that either side wrote is lost: what cannot be merged is kept twice.

use std::collections::HashSet;

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Merged {
    /// The branch has it as it should be.
    Keep,
    /// It goes away.
    Delete,
    /// It gets the content that the run left.
    Take,
    /// It gets content from both sides.
    Mixed(Vec<u8>),
    /// The branch's stays, and the run's lies beside it.
    Both,
}

/// How two changed texts become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines are only ever added: all lines of both sides.
    Lines,
    /// Any text: by place.
    Text,
}

impl Kind {
    /// By the ending of a name.
    pub(crate) fn of(path: &str) -> Self {
        let folded = path.to_ascii_lowercase();
        if folded.ends_with(".jsonl") || folded.ends_with(".ndjson") { Self::Lines } else { Self::Text }
    }
}

/// Decides about one file. `None` is a file that is not there. `by_place` merges two changes of one text, and answers
/// `None` where they collide.
// DB-B-07
pub(crate) fn merge<E>(
    kind: Kind,
    base: Option<&[u8]>,
    head: Option<&[u8]>,
    ours: Option<&[u8]>,
    by_place: impl FnOnce(&[u8], &[u8], &[u8]) -> Result<Option<Vec<u8>>, E>,
) -> Result<Merged, E> {
    if ours == base || ours == head {
        return Ok(Merged::Keep);
    }
    Ok(match (head, ours) {
        // A deletion against an edit keeps the edit, whichever side made it.
        (_, None) if head == base => Merged::Delete,
        (_, None) => Merged::Keep,
        (None, Some(_)) => Merged::Take,
        (Some(_), Some(_)) if head == base => Merged::Take,
        (Some(head), Some(ours)) => {
            let base = base.unwrap_or_default();
            let mixed = match kind {
                Kind::Lines => Some(union(base, head, ours)),
                Kind::Text => by_place(base, head, ours)?,
            };
            match mixed {
                Some(mixed) if mixed == head => Merged::Keep,
                Some(mixed) => Merged::Mixed(mixed),
                None => Merged::Both,
            }
        }
    })
}

/// The branch's lines, then those that the run added and the branch does not have. A line that the branch gave up since
/// the base does not come back with a run that merely kept it.
fn union(base: &[u8], head: &[u8], ours: &[u8]) -> Vec<u8> {
    let mut known: HashSet<&[u8]> = lines(base).chain(lines(head)).collect();
    let mut text = head.to_vec();
    for line in lines(ours) {
        if known.insert(line) {
            if text.last().is_some_and(|last| *last != b'\n') {
                text.push(b'\n');
            }
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    text
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use daybook_branch::merge_texts;
    use daybook_testkit::random::Random;

    use super::*;

    fn decide(kind: Kind, base: Option<&str>, head: Option<&str>, ours: Option<&str>) -> Merged {
        merge(kind, base.map(str::as_bytes), head.map(str::as_bytes), ours.map(str::as_bytes), merge_texts).unwrap()
    }

    #[test]
    fn every_pair_of_changes_has_its_answer() {
        let (a, b, c) = (Some("a\n"), Some("b\n"), Some("c\n"));
        for (base, head, ours, answer) in [
            (a, a, a, Merged::Keep),
            (a, b, a, Merged::Keep),
            (a, a, b, Merged::Take),
            (a, b, b, Merged::Keep),
            (a, a, None, Merged::Delete),
            (a, b, None, Merged::Keep),
            (a, None, None, Merged::Keep),
            (a, None, a, Merged::Keep),
            (a, None, b, Merged::Take),
            (None, None, a, Merged::Take),
            (None, a, a, Merged::Keep),
            (None, a, b, Merged::Both),
            (a, b, c, Merged::Both),
        ] {
            assert_eq!(decide(Kind::Text, base, head, ours), answer, "{base:?} {head:?} {ours:?}");
        }
        let mixed = |text: &str| Merged::Mixed(text.as_bytes().to_vec());
        assert_eq!(decide(Kind::Lines, a, Some("a\nb"), Some("a\nc\n")), mixed("a\nb\nc\n"));
        assert_eq!(decide(Kind::Lines, None, b, c), mixed("b\nc\n"));
        // Purged from the branch, and not brought back.
        assert_eq!(decide(Kind::Lines, Some("a\nx\n"), a, Some("a\nx\ny\n")), mixed("a\ny\n"));
    }

    /// CASES 28: no line that either side wrote is lost, whatever the two did.
    #[test]
    fn nothing_that_either_side_wrote_is_lost() {
        let mut random = Random::new(28);
        for round in 0..3000 {
            let kind = if round % 2 == 0 { Kind::Lines } else { Kind::Text };
            let base: Vec<String> = (0..random.below(12)).map(|number| format!("base {number}")).collect();
            let head = edited(&mut random, &base, "head");
            let ours = edited(&mut random, &base, "ours");
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let (base, head, ours) = (text(&base), text(&head), text(&ours));
            let kept = match decide(kind, Some(&base), Some(&head), Some(&ours)) {
                Merged::Keep => head.clone(),
                Merged::Take => ours.clone(),
                Merged::Mixed(text) => String::from_utf8(text).unwrap(),
                Merged::Both => format!("{head}{ours}"),
                Merged::Delete => String::new(),
            };
            let kept: HashSet<&str> = kept.lines().collect();
            for written in head.lines().chain(ours.lines()).filter(|line| !line.starts_with("base")) {
                assert!(kept.contains(written), "round {round}: {written:?} of {head:?} {ours:?} is not in {kept:?}");
            }
        }
    }

    fn edited(random: &mut Random, base: &[String], who: &str) -> Vec<String> {
        let mut lines = base.to_vec();
        for number in 0..random.below(4) {
            let at = random.below(lines.len() + 1);
            match random.below(3) {
                0 if at < lines.len() => drop(lines.remove(at)),
                1 if at < lines.len() => lines[at] = format!("{who} {number}"),
                _ => lines.insert(at, format!("{who} {number}")),
            }
        }
        lines
    }
}
