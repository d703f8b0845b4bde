//! Tool calls and safe outputs in place of an agent, the calls over a real MCP connection.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::ServiceError;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};

use super::agent::Server;

/// Largest script, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Longest time that one call, or the start of the server, may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// One line of a script.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    tool: Option<String>,
    arguments: Option<Map<String, Value>>,
    output: Option<Map<String, Value>>,
}

/// What the agent does.
#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    /// It calls a tool.
    Call(String, Map<String, Value>),
    /// It leaves a safe output.
    Output(Map<String, Value>),
}

impl TryFrom<Line> for Act {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        match line {
            Line { tool: Some(tool), arguments, output: None } => Ok(Self::Call(tool, arguments.unwrap_or_default())),
            Line { tool: None, arguments: None, output: Some(output) } => Ok(Self::Output(output)),
            _ => Err("a line has the member tool, and arguments where it needs some, or the member output".to_owned()),
        }
    }
}

/// Where an agent of a script acts.
pub(crate) struct Stage<'a> {
    pub(crate) server: &'a Server,
    /// What the server says beside the connection.
    pub(crate) log: &'a Path,
    /// Where safe outputs go.
    pub(crate) safe_outputs: &'a Path,
}

/// What one call brought.
pub(crate) struct Outcome {
    /// Whether the server refused it.
    pub(crate) refused: bool,
    /// What it said, as text.
    pub(crate) text: String,
}

/// Reads a script; blank lines are passed over.
pub(crate) fn parse(text: &str) -> Result<Vec<Act>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the script has {} bytes; allowed are {MAX_BYTES}", text.len()));
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let act = |line: &str| Act::try_from(serde_json::from_str::<Line>(line).map_err(|fault| fault.to_string())?);
    lines.map(|(number, line)| act(line).map_err(|fault| format!("line {number}: {fault}"))).collect()
}

/// Starts the server as its own process, connects as a client, and does everything in order. A refused call does not
/// end the session; a broken connection does. What comes back are the names of the tools, and one outcome for each call.
pub(crate) fn play(stage: &Stage<'_>, acts: &[Act]) -> Result<(Vec<String>, Vec<Outcome>), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(session(stage, acts))
}

async fn session(stage: &Stage<'_>, acts: &[Act]) -> Result<(Vec<String>, Vec<Outcome>), String> {
    let Stage { server, log, safe_outputs } = stage;
    let mut command = tokio::process::Command::new(&server.program);
    command.args(&server.arguments).env_clear();
    let log = File::create(log).map_err(|error| error.to_string())?;
    let outputs = OpenOptions::new().append(true).create(true).open(safe_outputs);
    let mut outputs = outputs.map_err(|error| error.to_string())?;
    let (transport, _) = TokioChildProcess::builder(command)
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{}: {error}", server.program.display()))?;
    let started = tokio::time::timeout(PATIENCE, ().serve(transport)).await;
    let mut client = started
        .map_err(|_| "the server did not answer in time".to_owned())?
        .map_err(|error| format!("the server did not start: {error}"))?;
    let tools = tokio::time::timeout(PATIENCE, client.list_all_tools()).await;
    let tools = tools.map_err(|_| "no list of tools in time".to_owned())?.map_err(|error| error.to_string())?;
    let mut outcomes = Vec::with_capacity(acts.len());
    for act in acts {
        let (tool, arguments) = match act {
            Act::Call(tool, arguments) => (tool, arguments),
            Act::Output(output) => {
                let line = Value::from(output.clone());
                writeln!(outputs, "{line}").map_err(|error| error.to_string())?;
                continue;
            }
        };
        let request = CallToolRequestParams::new(tool.clone()).with_arguments(arguments.clone());
        let answer = tokio::time::timeout(PATIENCE, client.call_tool(request)).await;
        let outcome = match answer.map_err(|_| format!("no answer to {tool} in time"))? {
            Ok(result) => Outcome { refused: result.is_error == Some(true), text: text_of(&result) },
            Err(ServiceError::McpError(error)) => Outcome { refused: true, text: error.to_string() },
            Err(error) => return Err(format!("the connection to the server broke: {error}")),
        };
        outcomes.push(outcome);
    }
    // Closing standard input is how a client says goodbye; the server ends by itself.
    client.close().await.map_err(|error| error.to_string())?;
    Ok((tools.into_iter().map(|tool| tool.name.to_string()).collect(), outcomes))
}

fn text_of(result: &CallToolResult) -> String {
    let text = result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str());
    text.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_line_by_line_and_a_bad_line_is_named() {
        let text =
            "{\"tool\":\"ledger_status\"}\n\n{\"tool\":\"a\",\"arguments\":{\"x\":1}}\n{\"output\":{\"type\":\"b\"}}";
        let acts = parse(text).unwrap();
        let map = |text: &str| serde_json::from_str(text).unwrap();
        let call = |tool: &str, arguments: &str| Act::Call(tool.to_owned(), map(arguments));
        let expected = [call("ledger_status", "{}"), call("a", r#"{"x":1}"#), Act::Output(map(r#"{"type":"b"}"#))];
        assert_eq!(acts, expected);
        assert!(parse("{\"tool\":\"a\"}\n{\"tol\":\"b\"}").unwrap_err().starts_with("line 2: unknown field `tol`"));
        for bad in [r#"{"tool":"a","arguments":[]}"#, r#"{"tool":"a","output":{}}"#, "{}", r#"{"output":[]}"#] {
            assert!(parse(bad).unwrap_err().starts_with("line 1"), "{bad}");
        }
    }
}
