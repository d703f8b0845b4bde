//! The kernel's part alone: Node without its permission model, started by the launcher as it is.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{LAUNCHER, World, nodes};

/// Each attempt, as the body of an async function with `fs`, `root` and `tcp`, `udp` ports in scope.
const ATTEMPTS: &[(&str, &str)] = &[
    ("read a file of the system", "fs.readFileSync('/etc/passwd')"),
    ("read another process's environment", "fs.readFileSync('/proc/1/environ')"),
    ("read the parent's environment", "fs.readFileSync(`/proc/${process.ppid}/environ`)"),
    ("read its own memory", "fs.openSync('/proc/self/mem')"),
    ("read beside the tree", "fs.readFileSync(`${root}/../secret`)"),
    ("list the root", "fs.readdirSync('/')"),
    ("list a home", "fs.readdirSync('/root')"),
    ("write a new file", "fs.writeFileSync(`${root}/new`, 'x')"),
    ("write over a file", "fs.writeFileSync(`${root}/notes.md`, 'x')"),
    ("write beside the tree", "fs.writeFileSync(`${root}/../new`, 'x')"),
    ("write shared memory", "fs.writeFileSync('/dev/shm/daybook-test', 'x')"),
    ("write a device", "fs.writeFileSync('/dev/null', 'x')"),
    ("truncate", "fs.truncateSync(`${root}/notes.md`)"),
    ("truncate by opening", "fs.openSync(`${root}/notes.md`, fs.constants.O_RDONLY | fs.constants.O_TRUNC)"),
    ("make a folder", "fs.mkdirSync(`${root}/folder`)"),
    ("remove", "fs.unlinkSync(`${root}/notes.md`)"),
    ("rename", "fs.renameSync(`${root}/notes.md`, `${root}/other`)"),
    ("link", "fs.linkSync(`${root}/notes.md`, `${root}/link`)"),
    ("link symbolically", "fs.symlinkSync('/etc/passwd', `${root}/link`)"),
    ("change a mode", "fs.chmodSync(`${root}/notes.md`, 0o777)"),
    ("change a mode by descriptor", "fs.fchmodSync(fs.openSync(`${root}/notes.md`), 0o777)"),
    ("change an owner", "fs.chownSync(`${root}/notes.md`, 1, 1)"),
    ("change times", "fs.utimesSync(`${root}/notes.md`, 1, 1)"),
    ("change times by descriptor", "fs.futimesSync(fs.openSync(`${root}/notes.md`), 1, 1)"),
    ("start a program", "once(require('child_process').spawn('/bin/true'), 'exit')"),
    ("start Node", "once(require('child_process').spawn(process.execPath, ['-e', '0']), 'exit')"),
    (
        "start a daemon",
        "once(require('child_process').spawn(process.execPath, ['-e', `setTimeout(() => {}, 1e6) // ${root}`], { detached: true, stdio: 'ignore' }), 'spawn')",
    ),
    ("run a command", "require('child_process').execSync('id')"),
    ("connect by TCP", "once(require('net').connect(tcp, '127.0.0.1'), 'connect')"),
    ("listen by TCP", "once(require('net').createServer().listen(0), 'listening')"),
    ("connect to a socket file", "once(require('net').connect(`${root}/../socket`), 'connect')"),
    ("connect to an abstract socket", "once(require('net').connect('\\0daybook'), 'connect')"),
    ("listen on a socket file", "once(require('net').createServer().listen(`${root}/socket`), 'listening')"),
    (
        "send by UDP",
        "new Promise((done, fail) => { const s = require('dgram').createSocket('udp4').on('error', fail); s.send('x', udp, '127.0.0.1', (e) => e ? fail(e) : done()); })",
    ),
    ("look up a name", "require('dns').promises.lookup('example.com')"),
    ("ask a name server", "require('dns').promises.resolve4('example.com')"),
    ("fetch", "fetch(`http://127.0.0.1:${tcp}/`)"),
    ("signal the parent", "process.kill(process.ppid, 0)"),
    ("signal the first process", "process.kill(1, 0)"),
    ("signal its group", "process.kill(0, 0)"),
    ("signal everybody", "process.kill(-1, 0)"),
    ("become somebody", "process.setuid(12345)"),
    ("watch files", "fs.watch(root)"),
    ("write a database", "new (require('node:sqlite').DatabaseSync)(`${root}/file.db`).exec('create table t (a)')"),
    ("write a heap snapshot", "require('v8').writeHeapSnapshot(`${root}/heap`)"),
];

// DB-4.1-03, DB-4.2-03
#[test]
fn the_kernel_alone_stops_every_attempt() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let attempts: Vec<String> =
        ATTEMPTS.iter().map(|(name, body)| format!("[{}, async () => {body}]", json!(name))).collect();
    for node in nodes() {
        let world = World::new();
        let unix = std::os::unix::net::UnixListener::bind(world.path().join("socket")).unwrap();
        unix.set_nonblocking(true).unwrap();
        let program = format!(
            "const fs = require('fs'), {{ once }} = require('events');
             const root = process.cwd(), tcp = {}, udp = {};
             (async () => {{
                 // It can do what it is for.
                 if (fs.readFileSync(`${{root}}/notes.md`, 'utf8') !== 'hello\\n') throw new Error('the tree is not there');
                 for (const [name, attempt] of [{}]) {{
                     const said = await attempt().then(() => 'DONE', (fault) => fault.code ?? fault.message);
                     console.log(`${{said}} ${{name}}`);
                 }}
                 console.log('to the end');
                 process.exit(0);
             }})();",
            tcp.local_addr().unwrap().port(),
            udp.local_addr().unwrap().port(),
            attempts.join(",\n")
        );
        let order = json!({
            "program": node,
            "arguments": ["--no-warnings", "--openssl-config=/dev/null", "--eval", program],
            "tree": world.tree().canonicalize().unwrap(),
            "cpu_seconds": 60,
            "data_bytes": 1200 * 1024 * 1024,
        });
        let before = world.state();
        let output = Command::new(LAUNCHER)
            .args(["__script-launcher", &order.to_string()])
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .unwrap();
        // What is printed comes out where errors do; what stays is the answer channel.
        let said = String::from_utf8_lossy(&output.stderr);
        println!("{node:?}\n{said}");
        assert!(output.stdout.starts_with(b"{\"enforced\":"), "{:?}", String::from_utf8_lossy(&output.stdout));
        assert!(said.ends_with("to the end\n"), "{said}");
        assert!(!said.contains("DONE"), "{said}");
        assert_eq!(said.lines().count(), ATTEMPTS.len() + 1, "{said}");
        assert_eq!(world.state(), before);
        assert_eq!(world.processes(), [""; 0]);
        assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(udp.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
}
