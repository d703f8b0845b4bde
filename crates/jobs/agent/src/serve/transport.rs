//! Lines of JSON-RPC on standard input and output.
//!
//! A message is checked before it is parsed by the library, because parsing would silently change what a record must
//! not change: the last of two equal keys, an integer that no double holds. Whatever is refused gets an answer.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Stdout, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use daybook_core::json::JsonFault;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::failure::Failure;
use super::ledger::check_message;

/// Longest message in bytes: several times what a batch of the largest records takes.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Messages read ahead of their handling.
const QUEUE: usize = 16;

type Output = Arc<Mutex<Stdout>>;

/// The transport of one client.
#[derive(Debug)]
pub(super) struct LineTransport {
    output: Output,
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
}

impl LineTransport {
    /// Starts to read `input` on a thread of its own; it ends with the input.
    pub(super) fn new(input: impl Read + Send + 'static, output: Output) -> Self {
        let (sender, messages) = mpsc::channel(QUEUE);
        let replies = Arc::clone(&output);
        std::thread::spawn(move || read_messages(BufReader::new(input), &replies, &sender));
        Self { output, messages }
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        std::future::ready(
            serde_json::to_vec(&message).map_err(io::Error::from).and_then(|line| write_line(&self.output, line)),
        )
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.messages.close();
        Ok(())
    }
}

fn write_line(output: &Output, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(&line)?;
    output.flush()
}

fn read_messages(mut input: impl BufRead, replies: &Output, sender: &mpsc::Sender<RxJsonRpcMessage<RoleServer>>) {
    let mut line = Vec::new();
    while let Ok(Some(whole)) = read_line(&mut input, &mut line) {
        let message = if whole { parse(&line) } else { Err(answer(&Value::Null, -32600, "the message is too long")) };
        let passed_on = match message {
            Ok(Some(message)) => sender.blocking_send(message).is_ok(),
            Ok(None) => true,
            Err(reply) => write_line(replies, reply.to_string().into_bytes()).is_ok(),
        };
        if !passed_on {
            return;
        }
    }
}

/// Reads a line without its newline. `false` where it was longer than allowed and was skipped, `None` at the end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let limit = u64::try_from(MAX_LINE + 1).unwrap_or(u64::MAX);
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= MAX_LINE {
        line.pop_if(|last| *last == b'\r');
        return Ok(Some(true));
    }
    line.clear();
    loop {
        let available = input.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(available.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(Some(false));
        }
    }
}

/// The message in a line, `None` where the line is blank, or the reply that refuses it.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if let Err(fault) = check_message(line) {
        return Err(refusal(line, fault));
    }
    serde_json::from_slice(line)
        .map(Some)
        .map_err(|_| answer(&envelope(line).id, -32600, "not a message of this protocol"))
}

/// A call that carries what a record must not hold fails as a tool does; any other message, as the protocol says.
fn refusal(line: &[u8], fault: JsonFault) -> Value {
    let Envelope { id, method } = envelope(line);
    if method.as_deref() == Some("tools/call") && !id.is_null() {
        let result = Failure::json(fault).into_result();
        return json!({"jsonrpc": "2.0", "id": id, "result": {"content": result.content, "isError": true}});
    }
    let code = if matches!(fault, JsonFault::Syntax | JsonFault::NotUtf8) { -32700 } else { -32600 };
    answer(&id, code, "the message is not JSON that can be kept as it stands")
}

/// What of a message can be read although the rest is refused: its other members are skipped, not parsed.
#[derive(Default, Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Value,
    method: Option<String>,
}

fn envelope(line: &[u8]) -> Envelope {
    let envelope: Envelope = serde_json::from_slice(line).unwrap_or_default();
    let id = if envelope.id.is_string() || envelope.id.is_number() { envelope.id } else { Value::Null };
    Envelope { id, method: envelope.method }
}

fn answer(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
