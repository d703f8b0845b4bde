//! The agent job of a dry run: a real command, or a script of tool calls.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use daybook_runner::{Exit, Report};
use serde_json::json;

use super::allowed::AGENT;
use super::process::{JobStory, Programs, option};
use super::script::{self, Call};
use super::workspace::Workspace;

/// Who plays the agent.
pub(crate) enum Agent {
    /// A command, and the names of variables that it gets besides the usual ones.
    Command(String, Vec<OsString>),
    /// A script.
    Script(Vec<Call>),
}

/// How the MCP server is started.
pub(crate) struct Server {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl Server {
    pub(crate) fn new(workspace: &Workspace, programs: &Programs) -> Self {
        let (program, mut arguments) = programs.of("agent");
        arguments.push("serve".into());
        option(&mut arguments, "--config", workspace.config());
        option(&mut arguments, "--memory-root", workspace.memory());
        option(&mut arguments, "--baseline", workspace.baseline());
        option(&mut arguments, "--transaction-log", workspace.transaction_log());
        Self { program, arguments }
    }

    /// The file that tells MCP clients how to start it.
    fn write_config(&self, file: &Path) -> io::Result<()> {
        let arguments: Vec<_> = self.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let command = self.program.to_string_lossy();
        let config = json!({ "mcpServers": { "daybook": { "type": "stdio", "command": command, "args": arguments, "env": {} } } });
        std::fs::write(file, format!("{config:#}\n"))
    }
}

/// Runs the agent job to its end.
pub(crate) fn run(agent: &Agent, workspace: &Workspace, programs: &Programs) -> io::Result<JobStory> {
    let server = Server::new(workspace, programs);
    server.write_config(&workspace.mcp_config())?;
    let since = Instant::now();
    let (report, environment) = match agent {
        Agent::Command(command, names) => real(command, names, workspace)?,
        Agent::Script(calls) => (scripted(calls, &server, workspace), Vec::new()),
    };
    let document = report.to_json();
    Ok(JobStory { allowed: AGENT, environment, exit: report.exit(), document, took: since.elapsed() })
}

fn real(command: &str, names: &[OsString], workspace: &Workspace) -> io::Result<(Report, Vec<String>)> {
    let usual = ["PATH", "HOME", "TERM"].map(OsString::from);
    let inherited = usual.iter().chain(names).filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
    let own = [
        ("DAYBOOK_MCP_CONFIG", workspace.mcp_config()),
        ("DAYBOOK_PROMPT", workspace.prompt()),
        ("DAYBOOK_SAFE_OUTPUTS", workspace.safe_outputs()),
    ];
    let own = own.map(|(name, path)| (OsString::from(name), path.into_os_string()));
    let environment: Vec<(OsString, OsString)> = inherited.chain(own).collect();
    // Our standard output is data; what the agent prints is talk.
    let talk = Stdio::from(io::stderr().as_fd().try_clone_to_owned()?);
    let status = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .env_clear()
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(talk)
        .status()?;
    let mut report = Report::new(Exit::Ok);
    if !status.success() {
        report = Report::named("agent-failed", Exit::Findings);
        report.error("agent-failed", &format!("the agent's command ended with {status}"));
    }
    report.decided("a real command was run as the agent");
    let names = environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    Ok((report, names))
}

fn scripted(calls: &[Call], server: &Server, workspace: &Workspace) -> Report {
    let (tools, outcomes) = match script::play(server, &workspace.of_job("agent", "log"), calls) {
        Ok(played) => played,
        Err(message) => {
            let mut report = Report::new(Exit::Io);
            report.error("agent-disconnected", &message);
            return report;
        }
    };
    let refused = outcomes.iter().filter(|outcome| outcome.refused).count();
    let mut report = Report::new(if refused == 0 { Exit::Ok } else { Exit::Partial });
    report
        .read(format!("the tools of the server: {}", tools.join(", ")))
        .decided(format!("{} scripted calls over MCP, {refused} of them refused", calls.len()))
        .count("calls", calls.len() as u64)
        .count("calls-refused", refused as u64);
    for (number, (call, outcome)) in (1..).zip(calls.iter().zip(&outcomes)) {
        if outcome.refused {
            report.error("call-refused", &format!("call {number}, {}: {}", call.tool, outcome.text));
        }
    }
    report
}
