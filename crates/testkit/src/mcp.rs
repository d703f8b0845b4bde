//! A bare MCP client over the pipes of a server process, for tests that need the server's very next instant.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::said;

/// A server process that has been greeted.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    /// Starts a server and says hello.
    ///
    /// # Panics
    /// Where the server does not answer.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Self { child, input, output, next_id: 1 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.request("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    /// Sends a line as it is.
    ///
    /// # Panics
    /// Where the server is gone.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open connection");
        // In one write, as clients do: a line and its end apart wake the server twice.
        input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Reads the next message.
    ///
    /// # Panics
    /// Where the server is gone or does not speak JSON.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Panics
    /// As [`Client::receive`].
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; the structured content, or the error that the tool told.
    ///
    /// # Errors
    /// The `error` member of a result that says `isError`.
    ///
    /// # Panics
    /// As [`Client::receive`], or where a result is neither.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Value> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        tool_result(&answer)
    }

    /// Kills the server without a warning.
    ///
    /// # Panics
    /// Where the system refuses.
    pub fn kill(mut self) {
        self.child.kill().expect("a signal is sent");
        self.child.wait().expect("the server ends");
    }

    /// Closes the connection; the server's exit code.
    ///
    /// # Panics
    /// Where the server was killed by a signal.
    pub fn close(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("the server ends").code().expect("an exit code")
    }
}

/// The structured content of a tool's answer, or the error that it told.
///
/// # Errors
/// The `error` member of a result that says `isError`.
///
/// # Panics
/// Where the answer is neither.
pub fn tool_result(answer: &Value) -> Result<Value, Value> {
    let result = &answer["result"];
    if result["isError"] == true {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let error: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("not an error: {answer}"));
        said::keep_all(&error);
        return Err(error["error"].clone());
    }
    assert!(result["structuredContent"].is_object(), "{answer}");
    Ok(result["structuredContent"].clone())
}
