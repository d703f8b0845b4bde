//! What remotes answer, and what they do not.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use daybook_branch::{BranchName, FaultKind, Remote, Resolved, Token};
use daybook_runner::{Exit, Stop};
use daybook_testkit::git::BareRepository;

fn branch() -> BranchName {
    BranchName::parse("ledgers/triage").unwrap()
}

/// A web server that gives each connection this answer and closes it; returns its address.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/o/r", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0_u8; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn absence_is_proven_in_empty_and_in_filled_repositories_of_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["sha1", "sha256"] {
        let bare = BareRepository::create(&folder.path().join(format), format);
        let remote = Remote::new(&bare.url(), None).unwrap();
        assert_eq!(remote.resolve(&branch()).unwrap(), Resolved::Absent);
        let snapshot = remote.fetch(&branch()).unwrap();
        assert_eq!(snapshot.head(), None);
        assert_eq!(snapshot.repository().object_format().str(), format, "format of an empty repository");

        // A tag or branch of which our name is only the end does not count.
        let other = bare.commit_files("x", &[("a", b"1")]);
        bare.git(&["update-ref", "refs/heads/y/refs/heads/ledgers/triage", &other]);
        assert_eq!(remote.resolve(&branch()).unwrap(), Resolved::Absent);
        assert_eq!(remote.fetch(&branch()).unwrap().repository().object_format().str(), format);

        let head = bare.commit_files("ledgers/triage", &[("a", b"1")]);
        assert_eq!(remote.resolve(&branch()).unwrap(), Resolved::At(head.parse().unwrap()));
        assert_eq!(remote.fetch(&branch()).unwrap().head(), Some(head.parse().unwrap()));
    }
}

#[test]
fn no_failure_reads_as_an_absent_branch() {
    let folder = tempfile::tempdir().unwrap();
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/o/r", listener.local_addr().unwrap())
    };
    let table = [
        (format!("file://{}/missing", folder.path().display()), FaultKind::NotARepository),
        (folder.path().display().to_string(), FaultKind::NotARepository),
        (closed, FaultKind::Unreachable),
        ("http://daybook.invalid/o/r".to_owned(), FaultKind::Unreachable),
        (server(""), FaultKind::Dropped),
        (server("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), FaultKind::Unauthorized),
        (server("HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), FaultKind::Forbidden),
        (server("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), FaultKind::NotFound),
        (server("HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), FaultKind::Server),
        (server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), FaultKind::NotARepository),
        // The announcement breaks off in the middle.
        (
            server(
                "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\n001e# service=git-upload-pack\n0000",
            ),
            FaultKind::Dropped,
        ),
    ];
    for (url, kind) in table {
        let remote = Remote::new(&url, None).unwrap();
        let resolved = match remote.resolve(&branch()) {
            Err(fault) => fault,
            Ok(answer) => panic!("{url} ({kind:?}) answered {answer:?}"),
        };
        assert_eq!(resolved.kind(), kind, "{url}: {}", resolved.private());
        assert_eq!(remote.fetch(&branch()).unwrap_err().kind(), kind, "{url}");
        assert!(!resolved.to_string().contains("127.0.0.1"), "the public form names the address");
    }
}

/// A login page in place of git's protocol, and a server that says nothing at all.
#[test]
fn an_answer_that_is_none_and_an_answer_that_never_comes_have_their_own_codes() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let page = server(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\n<!DOCTYPE html>",
    );
    let table = [
        (page, Duration::from_secs(60), "remote-bad-answer"),
        (format!("http://{}/o/r", silent.local_addr().unwrap()), Duration::from_millis(400), "remote-timed-out"),
    ];
    for (url, limit, code) in table {
        let remote = Remote::new(&url, None).unwrap().with_limit(limit);
        for fault in [remote.resolve(&branch()).unwrap_err(), remote.fetch(&branch()).unwrap_err()] {
            let said = fault.private();
            let stop = Stop::from(fault);
            assert_eq!((stop.exit, stop.code), (Exit::Io, code), "{said}");
            assert!(!stop.message.contains("127.0.0.1"), "the public form names the address");
        }
    }
}

#[test]
fn the_token_travels_as_a_header_and_in_no_argument() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/o/r", listener.local_addr().unwrap());
    let seen = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // git waits for our answer now: its command line can be read.
        let arguments: Vec<String> = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        let mut request = vec![0_u8; 8192];
        let got = stream.read(&mut request).unwrap();
        (String::from_utf8_lossy(&request[..got]).into_owned(), arguments)
    });
    let remote = Remote::new(&url, Some(Token::new("ghs_secretsecret").unwrap())).unwrap();
    remote.resolve(&branch()).unwrap_err();
    let (request, arguments) = seen.join().unwrap();
    let encoded = "eC1hY2Nlc3MtdG9rZW46Z2hzX3NlY3JldHNlY3JldA==";
    assert!(request.contains(&format!("Authorization: Basic {encoded}")), "{request}");
    assert!(arguments.iter().any(|line| line.contains("ls-remote")), "git was not seen");
    assert!(!arguments.iter().any(|line| line.contains("ghs_secretsecret") || line.contains(encoded)));
}

/// CASES 12: a listing of megabytes is read to its end, and neither cut nor taken for nothing.
#[test]
fn a_repository_with_very_many_references_answers_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("r"), "sha1");
    let head = bare.commit_files("zz/last", &[("a", b"1")]);
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    for number in 0..30_000 {
        packed.push_str(&format!("{head} refs/heads/ledgers/triage-of-team-{number:05}\n"));
    }
    std::fs::write(bare.path().join("packed-refs"), packed).unwrap();
    let remote = Remote::new(&bare.url(), None).unwrap();
    let resolve = |name: &str| remote.resolve(&BranchName::parse(name).unwrap()).unwrap();
    assert_eq!(resolve("zz/last"), Resolved::At(head.parse().unwrap()));
    assert_eq!(resolve("ledgers/triage-of-team-29999"), Resolved::At(head.parse().unwrap()));
    assert_eq!(resolve("ledgers/triage"), Resolved::Absent);
    assert_eq!(remote.fetch(&branch()).unwrap().head(), None);
}
