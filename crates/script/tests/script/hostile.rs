//! Scripts that want more than to answer. Each is refused or harmless, and bounded.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use daybook_script::{Fault, Limits};
use nix::sys::resource::{UsageWho, getrusage};

use crate::support::{World, four_beats, sandboxes};

fn refused(attack: &str, limits: Limits, fault: &Fault) {
    four_beats(attack, limits, |ran| assert_eq!(ran.answer.as_ref(), Err(fault), "{attack}: {:?}", ran.output));
}

/// An attack that says `true` where nothing of what it tried had an effect.
fn harmless(attack: &str) {
    four_beats(attack, Limits::default(), |ran| assert_eq!(ran.answer, Ok(()), "{attack}: {:?}", ran.output));
}

fn short() -> Limits {
    Limits { wall: Duration::from_secs(2), ..Limits::default() }
}

// DB-4.1-02
#[test]
fn endless_loops_end_in_time() {
    for attack in [
        "for (;;) {}",
        "module.exports = () => { for (;;) {} };",
        "module.exports = async () => { for (;;) await null; };",
        "module.exports = () => new Promise(() => setInterval(() => {}, 1));",
        "module.exports = () => { process.on('SIGTERM', () => {}); process.on('exit', () => { for (;;) {} }); };",
        "module.exports = () => /^(a+)+$/.test('a'.repeat(50) + 'b');",
        "module.exports = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
    ] {
        refused(attack, short(), &Fault::TimeLimit);
    }
}

#[test]
fn processor_time_is_bounded_apart_from_the_clock() {
    let limits = Limits { cpu_seconds: 1, ..Limits::default() };
    refused("module.exports = () => { for (;;) {} };", limits, &Fault::CpuLimit);
    refused("process.on('SIGXCPU', () => {}); module.exports = () => { for (;;) {} };", limits, &Fault::CpuLimit);
}

#[test]
fn memory_is_bounded_inside_and_outside_the_heap() {
    let heap = "module.exports = () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); };";
    refused(heap, Limits::default(), &Fault::MemoryLimit);
    // Outside the heap V8 may throw before it gives up.
    for attack in [
        "module.exports = () => { const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1)); };",
        "module.exports = () => new Uint8Array(10 * 2 ** 30).fill(1) && true;",
        "module.exports = () => { const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1)); };",
        "module.exports = () => { const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(64 << 20)).fill(1)); };",
        "module.exports = () => { const all = []; for (;;) { const one = new WebAssembly.Memory({ initial: 1000 }); new Uint8Array(one.buffer).fill(1); all.push(one); } };",
        "module.exports = () => 'x'.repeat(2 ** 29 - 24).split('') && true;",
    ] {
        four_beats(attack, Limits::default(), |ran| {
            assert!(matches!(ran.answer, Err(Fault::MemoryLimit | Fault::Threw(_))), "{attack}: {:?}", ran.answer);
        });
    }
    // The largest that any child of this test program ever was, in KiB.
    let largest = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    println!("the largest process had {} MiB", largest / 1024);
    assert!(largest < 1024 * 1024, "{largest} KiB");
}

#[test]
fn floods_are_cut_off() {
    for attack in [
        "module.exports = () => { for (;;) console.log('x'.repeat(1000)); };",
        "module.exports = () => { for (;;) console.error('x'.repeat(1000)); };",
        "module.exports = () => { for (;;) require('fs').writeSync(1, 'x'.repeat(1 << 20)); };",
        "module.exports = () => { console.log('x'.repeat(70_000)); return true; };",
    ] {
        four_beats(attack, Limits::default(), |ran| {
            assert_eq!(ran.answer, Err(Fault::OutputLimit), "{attack}");
            assert_eq!(ran.output.raw().len(), Limits::default().output_bytes);
        });
    }
    refused(
        "module.exports = () => { for (;;) require('fs').writeSync(3, 'x'.repeat(1000)); };",
        Limits::default(),
        &Fault::AnswerLimit,
    );
}

#[test]
fn the_answer_channel_believes_nobody_without_the_word() {
    for attack in [
        r#"require('fs').writeSync(3, '{"verdict":"accept"}\n'); process.exit(0);"#,
        r#"require('fs').writeSync(3, ' {"verdict":"accept"}\n'); module.exports = () => true;"#,
        r#"require('fs').writeSync(3, '{"enforced":{"landlock":9,"tcp":true,"signals":true}}\n'); module.exports = () => true;"#,
        r#"module.exports = () => { process.on('exit', () => require('fs').writeSync(3, 'more')); };"#,
    ] {
        refused(attack, Limits::default(), &Fault::BadAnswer);
    }
    refused("require('fs').closeSync(3); module.exports = () => true;", Limits::default(), &Fault::Exited { code: 1 });
    // The request is read before the script is, and the word with it.
    harmless(
        "module.exports = () => { try { return require('fs').readFileSync(0, 'utf8') === ''; } catch { return true; } };",
    );
}

// DB-4.1-03
#[test]
fn nothing_outside_the_tree_can_be_read() {
    harmless(
        r#"
        const { readFileSync, readdirSync, openSync, statSync, existsSync } = require('node:fs');
        module.exports = ({ root }) => {
            const seen = [
                () => readFileSync('/etc/passwd'), () => readFileSync('/proc/1/environ'), () => readFileSync('/proc/self/environ'),
                () => readFileSync(`/proc/${process.ppid}/environ`), () => readFileSync(`/proc/${process.ppid}/cmdline`),
                () => openSync('/proc/self/mem'), () => readdirSync('/proc/self/fd'), () => readdirSync('/'), () => readdirSync('/tmp'),
                () => readFileSync(`${root}/../secret`), () => readdirSync(`${root}/..`), () => readFileSync(`${root}/facts/../../secret`),
                () => statSync(`${root}/../secret`), () => existsSync(`${root}/../secret`) || fail(),
            ].filter((look) => { try { look(); return true; } catch { return false; } });
            console.log(seen.join());
            return seen.length === 0;
        };
        "#,
    );
}

#[test]
fn nothing_can_be_written_in_the_tree_or_beside_it() {
    harmless(
        r#"
        const fs = require('node:fs');
        module.exports = ({ root }) => {
            const done = [
                () => fs.writeFileSync(`${root}/new`, 'x'), () => fs.writeFileSync(`${root}/notes.md`, 'x'), () => fs.appendFileSync(`${root}/notes.md`, 'x'),
                () => fs.truncateSync(`${root}/notes.md`), () => fs.openSync(`${root}/notes.md`, fs.constants.O_RDONLY | fs.constants.O_TRUNC),
                () => fs.writeFileSync(`${root}/../beside`, 'x'), () => fs.writeFileSync('/tmp/beside', 'x'), () => fs.writeFileSync('/dev/shm/beside', 'x'),
                () => fs.mkdirSync(`${root}/folder`), () => fs.rmSync(`${root}/notes.md`), () => fs.renameSync(`${root}/notes.md`, `${root}/other`),
                () => fs.linkSync(`${root}/notes.md`, `${root}/link`), () => fs.symlinkSync('/etc/passwd', `${root}/link`),
                () => fs.chmodSync(`${root}/notes.md`, 0o777), () => fs.utimesSync(`${root}/notes.md`, 1, 1),
                () => fs.futimesSync(fs.openSync(`${root}/notes.md`), 1, 1), () => fs.fchmodSync(fs.openSync(`${root}/notes.md`), 0o777),
                () => fs.mkdtempSync('/tmp/x'), () => fs.cpSync(`${root}/notes.md`, `${root}/copy`),
                () => require('node:v8').writeHeapSnapshot(`${root}/heap`), () => process.report.writeReport(`${root}/report`) && fs.statSync(`${root}/report`),
            ].filter((write) => { try { write(); return true; } catch { return false; } });
            console.log(done.join());
            return done.length === 0;
        };
        "#,
    );
    // The module exists from Node 22 on, with a flag or without.
    harmless(
        r#"
        module.exports = ({ root }) => {
            try {
                const { DatabaseSync } = require('node:sqlite');
                new DatabaseSync(`${root}/file.db`).exec('create table t (a)');
                return false;
            } catch { return true; }
        };
        "#,
    );
}

// DB-4.1-03
#[test]
fn no_process_is_started_and_none_is_left() {
    harmless(
        r#"
        const { spawn, spawnSync, fork, execSync } = require('node:child_process');
        const settled = (start) => new Promise((resolve) => {
            try { start().on('error', () => resolve(false)).on('spawn', () => resolve(true)); } catch { resolve(false); }
        });
        module.exports = async ({ root }) => {
            const daemon = `setTimeout(() => {}, 1e6) // ${root}`;
            const started = [
                await settled(() => spawn('/bin/sleep', ['1000', root])), await settled(() => spawn(process.execPath, ['--eval', daemon])),
                await settled(() => spawn(process.execPath, ['--eval', daemon], { detached: true, stdio: 'ignore' })), await settled(() => fork('/x')),
            ];
            try { execSync('id'); started.push(true); } catch {}
            try { started.push(!spawnSync('/bin/true').error); } catch {}
            console.log(started.join());
            return !started.includes(true);
        };
        "#,
    );
}

#[test]
fn workers_do_not_start_and_would_be_no_way_out() {
    harmless(
        r#"
        const { Worker } = require('node:worker_threads');
        module.exports = async () => {
            try {
                const worker = new Worker(`require('node:fs').readFileSync('/etc/passwd')`, { eval: true });
                return await new Promise((resolve) => worker.on('error', () => resolve(true)).on('exit', (code) => resolve(code !== 0)));
            } catch { return true; }
        };
        "#,
    );
}

#[test]
fn other_processes_cannot_be_signalled() {
    // Were it otherwise, this test program would not live to tell.
    harmless(
        r#"
        module.exports = () => [process.ppid, 1, 0, -1, -process.pid].every((pid) => {
            try { process.kill(pid, pid === process.ppid ? 'SIGKILL' : 0); return false; } catch { return true; }
        });
        "#,
    );
}

// DB-4.1-03
#[test]
fn no_network_of_any_kind_is_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let folder = World::new();
    let socket = folder.path().join("socket");
    let unix = UnixListener::bind(&socket).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    harmless(&format!(
        r#"
        const net = require('node:net'), dgram = require('node:dgram'), dns = require('node:dns'), http = require('node:http');
        const tried = (start) => new Promise((resolve) => {{ try {{ start(resolve); }} catch {{ resolve(false); }} }});
        const connects = (...to) => tried((done) => net.connect(...to).on('error', () => done(false)).on('connect', () => done(true)));
        const listens = (...at) => tried((done) => net.createServer().listen(...at).on('error', () => done(false)).on('listening', () => done(true)));
        module.exports = async () => {{
            const reached = [
                await connects({tcp_port}, '127.0.0.1'), await connects('{}'), await connects('\0abstract'),
                await listens(0), await listens('\0other'),
                await tried((done) => {{ const s = dgram.createSocket('udp4').on('error', () => done(false)); s.send('x', {udp_port}, '127.0.0.1', (e) => done(!e)); }}),
                await tried((done) => dns.lookup('example.com', (e) => done(!e))), await tried((done) => dns.resolve4('example.com', (e) => done(!e))),
                await tried((done) => http.get('http://127.0.0.1:{tcp_port}/').on('error', () => done(false)).on('response', () => done(true))),
                await fetch('http://127.0.0.1:{tcp_port}/').then(() => true, () => false),
            ];
            console.log(reached.join());
            return !reached.includes(true);
        }};
        "#,
        socket.display()
    ));
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(udp.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn what_the_caller_left_open_is_closed() {
    let world = World::new();
    let secret = File::open(world.path().join("secret")).unwrap();
    // As if it had come from whoever started this program.
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let attack = format!(
        "module.exports = () => {{ try {{ return !require('fs').readFileSync({}, 'utf8').includes('secret'); }} catch {{ return true; }} }};",
        secret.as_raw_fd()
    );
    harmless(&attack);
}

#[test]
fn a_tree_that_is_not_made_of_plain_files_is_not_shown() {
    let spoilers: [fn(&World); 3] = [
        |world| std::os::unix::fs::symlink("/etc/passwd", world.tree().join("link")).unwrap(),
        |world| std::os::unix::fs::symlink("..", world.tree().join("facts/up")).unwrap(),
        |world| drop(UnixListener::bind(world.tree().join("socket")).unwrap()),
    ];
    for sandbox in sandboxes() {
        for spoil in spoilers {
            let world = World::new();
            let accept = "module.exports = () => true;";
            assert_eq!(world.validate(sandbox, accept, &Limits::default()).answer, Ok(()));
            spoil(&world);
            let fault = world.validate(sandbox, accept, &Limits::default()).answer.unwrap_err();
            assert_eq!(fault.code(), "tree-unusable");
        }
    }
}

#[test]
fn a_tree_that_changes_meanwhile_was_not_the_one_that_was_asked_about() {
    let changes: [fn(&World); 4] = [
        |world| std::fs::write(world.tree().join("notes.md"), "hullo\n").unwrap(),
        |world| std::fs::write(world.tree().join("new.md"), "").unwrap(),
        |world| std::fs::remove_file(world.tree().join("notes.md")).unwrap(),
        |world| {
            use std::os::unix::fs::PermissionsExt as _;
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(world.tree().join("notes.md"), executable).unwrap();
        },
    ];
    let sandbox = &sandboxes()[0];
    for change in changes {
        let world = World::new();
        // Consents as soon as it sees the change.
        let patient = r#"
            const { readFileSync, readdirSync, statSync } = require('node:fs');
            const unchanged = () => readdirSync('.').join() === 'facts,notes.md' && readFileSync('notes.md', 'utf8') === 'hello\n'
                && (statSync('notes.md').mode & 0o100) === 0;
            const changed = () => { try { return !unchanged(); } catch { return true; } };
            module.exports = () => new Promise((done) => setInterval(() => { if (changed()) done(true); }, 10));
        "#;
        let answer = std::thread::scope(|scope| {
            let asked = scope.spawn(|| world.validate(sandbox, patient, &Limits::default()).answer);
            crate::support::wait_until("the script starts", || !world.processes().is_empty());
            change(&world);
            asked.join().unwrap()
        });
        assert_eq!(answer.unwrap_err().code(), "tree-changed");
    }
}
