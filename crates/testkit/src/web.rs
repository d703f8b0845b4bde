//! A web server for git repositories: git's own `http-backend` behind a token.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// The only header that lets anybody in: user `x-access-token`, password `tok`.
const ACCEPTED: &str = "Basic eC1hY2Nlc3MtdG9rZW46dG9rLW9mLW5vYm9keS00ZjFiN2E=";

/// The token that the server accepts.
pub const TOKEN: &str = "tok-of-nobody-4f1b7a";

/// What the server does to pushes, until it is changed.
#[derive(Debug, Default)]
pub struct Behaviour {
    /// Answers 403 to them.
    pub read_only: AtomicBool,
    /// Applies this many of them without answering.
    pub lost_answers: AtomicU32,
    /// Answers this many requests of any kind with 503.
    pub unavailable: AtomicU32,
    /// Answers this many requests of any kind with 403.
    pub forbidden: AtomicU32,
    /// Breaks off this many answers to fetches in their middle.
    pub cut: AtomicU32,
}

/// A running server; it ends with the test.
#[derive(Debug)]
pub struct GitServer {
    origin: String,
    /// How it behaves.
    pub behaviour: Arc<Behaviour>,
}

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its verb.
    pub method: String,
    /// What it asks for, without the query.
    pub path: String,
    /// What stands behind the question mark.
    pub query: String,
    /// Its headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// What it carries.
    pub body: Vec<u8>,
}

impl GitServer {
    /// Serves the repositories below `root`.
    ///
    /// # Panics
    /// When no port can be had.
    #[must_use]
    pub fn start(root: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let behaviour = Arc::new(Behaviour::default());
        let (root, shared) = (root.to_owned(), Arc::clone(&behaviour));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, behaviour) = (root.clone(), Arc::clone(&shared));
                thread::spawn(move || answer(stream, &root, &behaviour));
            }
        });
        Self { origin, behaviour }
    }

    /// The address of a repository below the root.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.origin)
    }
}

fn take_one(counter: &AtomicU32) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

fn answer(mut stream: TcpStream, root: &PathBuf, behaviour: &Behaviour) {
    let Some(request) = read(&stream) else { return };
    let status =
        |status: &str, more: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n{more}\r\n");
    let push = request.path.ends_with("receive-pack") || request.query.contains("receive-pack");
    let refusal = if take_one(&behaviour.unavailable) {
        Some(status("503 Unavailable", ""))
    } else if take_one(&behaviour.forbidden) {
        Some(status("403 Forbidden", ""))
    } else if request.header("authorization") != ACCEPTED {
        Some(status("401 Unauthorized", "WWW-Authenticate: Basic realm=\"git\"\r\n"))
    } else if push && behaviour.read_only.load(Ordering::SeqCst) {
        Some(status("403 Forbidden", ""))
    } else {
        None
    };
    let lost = refusal.is_none() && push && request.method == "POST" && take_one(&behaviour.lost_answers);
    let fetch = refusal.is_none() && request.method == "POST" && request.path.ends_with("upload-pack");
    let mut text = refusal.map_or_else(|| backend(&request, root), String::into_bytes);
    // The answer that carries the objects is a long one; the listing of references before it is not.
    if fetch && text.len() > 4096 && take_one(&behaviour.cut) {
        text.truncate(text.len() / 2);
    }
    if !lost {
        // A client that has gone away is its own affair.
        let _ = stream.write_all(&text);
    }
}

/// Reads one request to its end; `None` where it breaks off.
pub fn read(stream: impl io::Read) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request =
        Request { method, path: path.to_owned(), query: query.to_owned(), headers: Vec::new(), body: Vec::new() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    if request.header("transfer-encoding") == "chunked" {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            request.body.extend(&chunk[..size]);
        }
    } else if let Ok(length) = request.header("content-length").parse() {
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
    }
    Some(request)
}

impl Request {
    /// The value of a header; empty where there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|header| header.0 == name).map_or("", |header| &header.1)
    }
}

/// Runs git's own server and makes a response of what it prints.
fn backend(request: &Request, root: &PathBuf) -> Vec<u8> {
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "test")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", request.header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", request.header("content-encoding"))
        .env("GIT_PROTOCOL", request.header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git http-backend has to be installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    let body = request.body.clone();
    let writer = thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().expect("git ends").stdout;
    let _ = writer.join();
    let split = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(output.len());
    let (head, body) = output.split_at(split);
    let head = String::from_utf8_lossy(head);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let mut response = format!("HTTP/1.1 {status}\r\nConnection: close\r\n").into_bytes();
    for line in head.lines().filter(|line| !line.starts_with("Status: ")) {
        response.extend_from_slice(format!("{line}\r\n").as_bytes());
    }
    response.extend_from_slice(b"\r\n");
    response.extend_from_slice(body.strip_prefix(b"\r\n\r\n").unwrap_or(body));
    response
}
