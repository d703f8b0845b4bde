//! What stops a script before it starts, and what ends it with its watcher.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use daybook_script::{Fault, Launcher, MAX_SCRIPT_BYTES, MIN_LANDLOCK, OLDEST, Sandbox, Script};
use daybook_testkit::said;
use serde_json::json;

use crate::support::{LAUNCHER, World, nodes, processes, sandboxes, wait_until};

fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn open(launcher: &Path, node: Option<&Path>) -> Result<Sandbox, Fault> {
    let opened = Sandbox::open(Launcher::program_at(launcher), node);
    if let Err(fault) = &opened {
        said::keep(fault.code(), &fault.to_string());
    }
    opened
}

#[test]
fn a_node_is_found_named_and_held_to_the_minimum() {
    for sandbox in sandboxes() {
        println!("Node {}: {}", sandbox.version(), sandbox.strength());
        assert!(sandbox.strength().landlock >= MIN_LANDLOCK);
        let version = sandbox.version().to_string();
        let major: u32 = version.split('.').next().unwrap().parse().unwrap();
        assert!(major >= OLDEST, "{version}");
    }
}

#[test]
fn a_node_that_is_missing_or_a_wrapper_is_named_as_such() {
    let world = World::new();
    let folder = world.path();
    let launcher = Path::new(LAUNCHER);
    let missing = |node: &Path| assert_eq!(open(launcher, Some(node)).unwrap_err(), Fault::NodeMissing);
    missing(&folder.join("nowhere"));
    missing(folder);
    missing(&folder.join("secret"));
    // A wrapper wants a shell, which the sandbox does not have; another program says no version.
    let wrapper = program(folder, "node", "#!/bin/sh\nexec node \"$@\"\n");
    for other in [&wrapper, Path::new("/bin/true")] {
        assert_eq!(open(launcher, Some(other)).unwrap_err().code(), "node-unusable", "{}", other.display());
    }
    assert!(open(launcher, None).is_ok());
}

/// `echo` in place of Node, in the real sandbox, and a launcher that tells it what to say.
#[test]
fn a_node_without_what_is_needed_is_too_old() {
    let (world, echo) = (World::new(), Path::new("/bin/echo"));
    let node_that_says = |version: &str| {
        let order = format!("$(printf %s \"$2\" | sed s/--version/{version}/)");
        let text = format!("#!/bin/sh\nexec '{LAUNCHER}' \"$1\" \"{order}\"\n");
        program(world.path(), &format!("launcher-{version}"), &text)
    };
    for old in ["v18.20.0".to_owned(), format!("v{}.99.99", OLDEST - 1), "v0.10.0".to_owned()] {
        let fault = open(&node_that_says(&old), Some(echo)).unwrap_err();
        assert_eq!(fault.code(), "node-unsupported", "{fault}");
        assert!(fault.to_string().contains(&format!("Node {} is too old", &old[1..])), "{fault}");
    }
    assert!(open(&node_that_says(&format!("v{OLDEST}.99.99")), Some(echo)).is_ok());
}

/// A launcher on a kernel that answers one system call as if it did not know it.
fn launcher_without(folder: &Path, call: &str, errno: &str) -> PathBuf {
    let text = format!(
        "#!/bin/sh\nexec strace -qq -o /dev/null -e trace={call} -e inject={call}:error={errno} '{LAUNCHER}' \"$@\"\n"
    );
    program(folder, &format!("without-{call}"), &text)
}

#[test]
fn a_kernel_that_enforces_too_little_runs_no_script() {
    let world = World::new();
    let path = std::env::var("PATH").unwrap();
    let found = std::env::split_paths(&path).any(|folder| folder.join("strace").is_file());
    assert!(found, "this test needs strace");
    for (call, errno, says) in [
        ("landlock_create_ruleset", "ENOSYS", "Landlock"),
        ("landlock_create_ruleset", "EOPNOTSUPP", "Landlock"),
        ("landlock_restrict_self", "EPERM", "Landlock"),
        ("seccomp", "EINVAL", "system calls"),
        ("capset", "EPERM", "capabilities"),
        ("prctl", "EPERM", "outlive"),
    ] {
        let launcher = launcher_without(world.path(), call, errno);
        let fault = open(&launcher, None).unwrap_err();
        assert_eq!(fault.code(), "sandbox-too-weak", "{call}: {fault}");
        assert!(fault.to_string().contains(says), "{call}: {fault}");
    }
    // The wrapper itself is not what stopped it.
    assert!(open(&launcher_without(world.path(), "getcwd", "EPERM"), None).is_ok());
}

#[test]
fn a_launcher_that_is_none_starts_nothing() {
    for none in ["/bin/true", "/nowhere"] {
        assert_eq!(open(Path::new(none), None).unwrap_err().code(), "script-system", "{none}");
    }
    for order in ["", "{}", "{\"program\":\"/bin/true\"}", "7"] {
        let output = Command::new(LAUNCHER).args(["__script-launcher", order]).output().unwrap();
        assert_eq!((output.status.success(), output.stdout.len()), (false, 0), "{order}");
    }
    assert!(!Command::new(LAUNCHER).output().unwrap().status.success());
}

#[test]
fn a_script_has_a_largest_size() {
    assert!(Script::new("x".repeat(MAX_SCRIPT_BYTES)).is_ok());
    assert_eq!(Script::new("x".repeat(MAX_SCRIPT_BYTES + 1)).unwrap_err(), Fault::ScriptTooLarge);
}

#[test]
fn a_script_does_not_outlive_who_watches_it() {
    let world = World::new();
    let marker = world.path().display().to_string();
    let order = json!({
        "program": nodes()[0],
        "arguments": ["--openssl-config=/dev/null", "--eval", format!("setInterval(() => {{}}, 1000) // {marker}")],
        "tree": null,
        "cpu_seconds": 100,
        "data_bytes": 1 << 30,
    });
    // The shell stands for a job that is killed; it waits, so that the launcher is a child of its own.
    let mut watcher = Command::new("/bin/sh")
        .args(["-c", "\"$0\" \"$@\" & wait", LAUNCHER, "__script-launcher", &order.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let of_node = || {
        processes(&marker)
            .into_iter()
            .filter(|line| line.contains("--eval") && !line.contains("__script-launcher"))
            .count()
    };
    wait_until("Node starts", || of_node() == 1);
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    wait_until("Node ends with its watcher", || processes(&marker).is_empty());
}
