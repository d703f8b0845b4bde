//! The prompt as the agent gets it.

use crate::settings::AuthorJob;

/// The author's prompt, and how to leave outputs: where jobs wait for them, and where the compaction of these ledgers may
/// be asked for.
pub(crate) fn full(prompt: &str, jobs: &[AuthorJob], requestable: &[&str]) -> String {
    let mut outputs: Vec<String> = Vec::new();
    for job in jobs {
        let description = job.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        outputs.push(format!("`{}`{description}. Further members: `{}`", job.output, job.inputs));
    }
    if !requestable.is_empty() {
        outputs.push(format!(
            "`ledger_request_compaction`: Ask for the compaction of a ledger whose status says that it is nearly full. \
             Further members: `ledger`, one of {}; `reason`, at most 512 characters",
            requestable.join(", ")
        ));
    }
    let mut text = prompt.to_owned();
    if outputs.is_empty() {
        return text;
    }
    text.push_str(
        "\n\n## Outputs\n\nTo act, append lines of JSON to the file that the environment variable DAYBOOK_SAFE_OUTPUTS names. \
         One line is one output; its member `type` is one of these:\n\n",
    );
    outputs.iter().for_each(|output| text.push_str(&format!("- {output}\n")));
    text
}
