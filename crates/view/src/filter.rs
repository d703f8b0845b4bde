//! Which records a list shows.

use daybook_core::query::Query;
use daybook_core::{CheckedLine, Record};

/// Conditions that all have to hold; the default lets every record pass.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Type and conditions on members of the payload; page and limit of the query mean nothing here.
    pub query: Option<Query>,
    /// The earliest instant, canonical.
    pub since: Option<String>,
    /// The latest instant, canonical.
    pub until: Option<String>,
    /// A text that the canonical payload or the type holds, as it is spelled there.
    pub contains: Option<String>,
}

impl Filter {
    /// Whether a record passes.
    #[must_use]
    pub fn admits(&self, line: &CheckedLine<'_>) -> bool {
        // Canonical instants sort as text.
        self.since.as_deref().is_none_or(|since| line.timestamp() >= since)
            && self.until.as_deref().is_none_or(|until| line.timestamp() <= until)
            && self.contains.as_deref().is_none_or(|text| holds(line, text))
            && self.query.as_ref().is_none_or(|query| query.matches(&Record::from_checked(line)))
    }

    /// Whether every record passes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.query.is_none() && self.since.is_none() && self.until.is_none() && self.contains.is_none()
    }
}

fn holds(line: &CheckedLine<'_>, text: &str) -> bool {
    std::str::from_utf8(line.payload()).is_ok_and(|payload| payload.contains(text))
        || line.kind_spelling().contains(text)
}

#[cfg(test)]
mod tests {
    use daybook_core::json;
    use daybook_testkit::ledgers;
    use daybook_testkit::random::Random;

    use super::*;

    #[test]
    fn all_conditions_have_to_hold() {
        let payload = json::parse(br#"{"issue":7,"text":"a \"b\" \u00fc"}"#).unwrap();
        let record = ledgers::build(&mut Random::new(1), 1, &[], &payload);
        let line = CheckedLine::check(record.line()).unwrap();
        let (kind, at) = (record.kind().to_owned(), record.timestamp().to_owned());
        let query = |text: &str| Some(Query::parse(&json::parse(text.as_bytes()).unwrap()).unwrap());
        let some = |text: &str| Some(text.to_owned());
        let open = Filter::default();
        assert!(open.admits(&line) && open.is_open());
        let kept = Filter {
            query: query(&format!(r#"{{"type":"{kind}","where":{{"payload.issue":{{"eq":7}}}}}}"#)),
            since: Some(at.clone()),
            until: Some(at),
            contains: some("\u{fc}"),
        };
        assert!(kept.admits(&line) && !kept.is_open());
        for filter in [
            Filter { query: query(r#"{"type":"other"}"#), ..kept.clone() },
            Filter { query: query(r#"{"where":{"payload.issue":{"gt":7}}}"#), ..kept.clone() },
            Filter { since: some("2999-01-01T00:00:00.000Z"), ..kept.clone() },
            Filter { until: some("2000-01-01T00:00:00.000Z"), ..kept.clone() },
            Filter { contains: some("nowhere"), ..kept.clone() },
        ] {
            assert!(!filter.admits(&line), "{filter:?}");
        }
        assert!(Filter { contains: Some(kind), ..Filter::default() }.admits(&line));
    }
}
