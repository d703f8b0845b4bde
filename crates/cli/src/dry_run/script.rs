//! Tool calls in place of an agent, over a real MCP connection.

use std::fs::File;
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
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

/// What one call brought.
pub(crate) struct Outcome {
    /// Whether the server refused it.
    pub(crate) refused: bool,
    /// What it said, as text.
    pub(crate) text: String,
}

/// Reads a script; blank lines are passed over.
pub(crate) fn parse(text: &str) -> Result<Vec<Call>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the script has {} bytes; allowed are {MAX_BYTES}", text.len()));
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|fault| format!("line {number}: {fault}"))).collect()
}

/// Starts the server as its own process, connects as a client, and makes every call in order. A refused call does not
/// end the session; a broken connection does.
pub(crate) fn play(server: &Server, log: &Path, calls: &[Call]) -> Result<(Vec<String>, Vec<Outcome>), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(session(server, log, calls))
}

async fn session(server: &Server, log: &Path, calls: &[Call]) -> Result<(Vec<String>, Vec<Outcome>), String> {
    let mut command = tokio::process::Command::new(&server.program);
    command.args(&server.arguments).env_clear();
    let log = File::create(log).map_err(|error| error.to_string())?;
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
    let mut outcomes = Vec::with_capacity(calls.len());
    for call in calls {
        let request = CallToolRequestParams::new(call.tool.clone()).with_arguments(call.arguments.clone());
        let answer = tokio::time::timeout(PATIENCE, client.call_tool(request)).await;
        let outcome = match answer.map_err(|_| format!("no answer to {} in time", call.tool))? {
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
        let calls = parse("{\"tool\":\"ledger_status\"}\n\n{\"tool\":\"a\",\"arguments\":{\"x\":1}}\n").unwrap();
        assert_eq!((calls.len(), calls[1].arguments["x"].as_u64()), (2, Some(1)));
        assert!(parse("{\"tool\":\"a\"}\n{\"tol\":\"b\"}").unwrap_err().starts_with("line 2: unknown field `tol`"));
        assert!(parse("{\"tool\":\"a\",\"arguments\":[]}").unwrap_err().starts_with("line 1"));
    }
}
