//! A server in place of GitHub's REST API: it records what it is asked and plays the answers that it was given.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::web::{Request, read};

/// One answer.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status, headers, and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The connection is closed without a word.
    Silence,
    /// Bytes that are not HTTP.
    Noise,
}

impl Reply {
    /// A status with nothing else.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), String::new())
    }

    /// The bytes of the answer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Status(status, headers, body) => {
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let length = if *status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
                format!("HTTP/1.1 {status} Played\r\nConnection: close\r\n{headers}{length}\r\n{body}").into_bytes()
            }
            Self::Silence => Vec::new(),
            Self::Noise => b"\x15\x03\x01\x00\x02\x02\x46 this is no HTTP\r\n\r\n".to_vec(),
        }
    }
}

/// A running server; it ends with the test.
#[derive(Debug)]
pub struct ApiServer {
    origin: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl ApiServer {
    /// Plays these answers, one for each request, and the last one for ever.
    ///
    /// # Panics
    /// When no port can be had, or without an answer.
    #[must_use]
    pub fn start(replies: &[Reply]) -> Self {
        assert!(!replies.is_empty(), "a server has to answer something");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (replies, seen) = (replies.to_vec(), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(&stream, &replies, &seen);
            }
        });
        Self { origin, requests }
    }

    /// Its address, as `GITHUB_API_URL` has it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.origin
    }

    /// What it was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(mut stream: &TcpStream, replies: &[Reply], seen: &Mutex<Vec<Request>>) {
    let Some(request) = read(stream) else { return };
    let mut requests = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let reply = replies.get(requests.len()).or(replies.last());
    requests.push(request);
    drop(requests);
    // A client that has gone away is its own affair.
    let _ = stream.write_all(&reply.map(Reply::to_bytes).unwrap_or_default());
}
