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
use super::script::{self, Act, Stage};
use super::workspace::Workspace;

/// Who plays the agent.
pub(crate) enum Agent {
    /// A command, and the names of variables that it gets besides the usual ones.
    Command(String, Vec<OsString>),
    /// A script.
    Script(Vec<Act>),
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
        Agent::Script(acts) => (scripted(acts, &server, workspace), Vec::new()),
    };
    let document = report.to_json();
    let (exit, took) = (report.exit(), since.elapsed());
    Ok(JobStory { allowed: AGENT, environment, exit, document, summary: String::new(), took })
}

fn real(command: &str, names: &[OsString], workspace: &Workspace) -> io::Result<(Report, Vec<String>)> {
    let usual = ["PATH", "HOME", "TERM"].map(OsString::from);
    let inherited = usual.iter().chain(names).filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
    let own = [
        ("DAYBOOK_MCP_CONFIG", workspace.mcp_config()),
        ("DAYBOOK_MEMORY", workspace.memory()),
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

fn scripted(acts: &[Act], server: &Server, workspace: &Workspace) -> Report {
    let (log, safe_outputs) = (workspace.of_job("agent", "log"), workspace.safe_outputs());
    let stage = Stage { server, log: &log, safe_outputs: &safe_outputs };
    let (tools, outcomes) = match script::play(&stage, acts) {
        Ok(played) => played,
        Err(message) => {
            let mut report = Report::new(Exit::Io);
            report.error("agent-disconnected", &message);
            return report;
        }
    };
    let calls = acts.iter().filter_map(|act| match act {
        Act::Call(tool, _) => Some(tool),
        Act::Output(_) => None,
    });
    let refused = outcomes.iter().filter(|outcome| outcome.refused).count();
    let outputs = acts.len() - outcomes.len();
    let mut report = Report::new(if refused == 0 { Exit::Ok } else { Exit::Partial });
    report
        .read(format!("the tools of the server: {}", tools.join(", ")))
        .decided(format!("{} scripted calls over MCP, {refused} of them refused", outcomes.len()))
        .count("calls", outcomes.len() as u64)
        .count("calls-refused", refused as u64)
        .count("outputs", outputs as u64);
    if outputs > 0 {
        report.wrote(format!("{outputs} safe outputs"));
    }
    for (number, (tool, outcome)) in (1..).zip(calls.zip(&outcomes)) {
        if outcome.refused {
            report.error("call-refused", &format!("call {number}, {tool}: {}", outcome.text));
        }
    }
    report
}
