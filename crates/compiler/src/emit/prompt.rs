//! The prompt as the agent gets it.

use crate::settings::AuthorJob;

/// The author's prompt, and how to leave outputs where jobs wait for them.
pub(crate) fn full(prompt: &str, jobs: &[AuthorJob]) -> String {
    let mut text = prompt.to_owned();
    if jobs.is_empty() {
        return text;
    }
    text.push_str(
        "\n\n## Outputs\n\nTo act, append lines of JSON to the file that the environment variable DAYBOOK_SAFE_OUTPUTS names. \
         One line is one output; its member `type` is one of these:\n\n",
    );
    for job in jobs {
        let description = job.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        text.push_str(&format!("- `{}`{description}. Further members: `{}`\n", job.output, job.inputs));
    }
    text
}
