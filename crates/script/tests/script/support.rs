//! A tree to be validated, in a folder that is watched, and the Nodes to do it with.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use daybook_script::{Launcher, Limits, Ran, RunFacts, Sandbox, Script};
use daybook_testkit::said;
use tempfile::TempDir;

/// How much longer than its limit a run may take on a machine that is busy with other things.
const SLACK: Duration = Duration::from_secs(60);

pub(crate) const LAUNCHER: &str = env!("CARGO_BIN_EXE_daybook-script-launcher");

/// The Node binaries to test with: those in `DAYBOOK_TEST_NODES`, or the one on the PATH.
pub(crate) fn nodes() -> Vec<PathBuf> {
    let named = std::env::var_os("DAYBOOK_TEST_NODES").filter(|nodes| !nodes.is_empty());
    let nodes: Vec<PathBuf> = match &named {
        Some(nodes) => std::env::split_paths(nodes).collect(),
        None => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&path).map(|folder| folder.join("node")).find(|node| node.is_file());
            vec![found.expect("these tests need Node")]
        }
    };
    nodes.into_iter().map(|node| node.canonicalize().unwrap_or_else(|error| panic!("{node:?}: {error}"))).collect()
}

pub(crate) fn sandboxes() -> &'static [Sandbox] {
    static SANDBOXES: OnceLock<Vec<Sandbox>> = OnceLock::new();
    SANDBOXES.get_or_init(|| {
        let launcher = || Launcher::program_at(LAUNCHER.as_ref());
        let open = |node: PathBuf| {
            Sandbox::open(launcher(), Some(&node)).unwrap_or_else(|fault| panic!("{node:?}: {fault:?}"))
        };
        nodes().into_iter().map(open).collect()
    })
}

/// A folder with a candidate tree in it, and something beside the tree that no script may see.
pub(crate) struct World {
    folder: TempDir,
}

/// Path to mode, time of change, and bytes.
pub(crate) type State = BTreeMap<PathBuf, (u32, i64, Vec<u8>)>;

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: TempDir::new().expect("a temporary folder") };
        fs::create_dir_all(world.tree().join("facts")).unwrap();
        fs::write(world.tree().join("notes.md"), "hello\n").unwrap();
        fs::write(world.tree().join("facts/one.json"), "{\"total\":1}\n").unwrap();
        fs::write(world.folder.path().join("secret"), "secret\n").unwrap();
        world
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn validate(&self, sandbox: &Sandbox, source: &str, limits: &Limits) -> Ran<()> {
        let script = Script::new(source).expect("the script is small");
        let run = RunFacts { memory: "notes".into(), branch: "memory/notes".into(), id: "run 7".into() };
        let ran = sandbox.validate(&script, limits, &self.tree(), &run);
        if let Err(fault) = &ran.answer {
            said::keep(fault.code(), &fault.to_string());
        }
        ran
    }

    /// Everything in the folder, the tree and what lies beside it.
    pub(crate) fn state(&self) -> State {
        let mut state = State::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                state.insert(path, (metadata.permissions().mode(), metadata.ctime_nsec(), content));
            }
        }
        state
    }

    /// Processes whose command line names this folder. Nothing is left behind where there are none.
    pub(crate) fn processes(&self) -> Vec<String> {
        processes(&self.folder.path().display().to_string())
    }
}

/// The command lines that hold a text.
pub(crate) fn processes(marker: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(marker)).collect()
}

/// Waits until a condition holds; fails where it does not in the time that a slow machine may need.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < SLACK, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Good state, attack, nothing changed and nothing left, next good operation; on every Node.
pub(crate) fn four_beats(attack: &str, limits: Limits, check: impl Fn(&Ran<()>)) {
    for sandbox in sandboxes() {
        let world = World::new();
        accepts_a_good_script(&world, sandbox);
        let before = world.state();
        let ran = world.validate(sandbox, attack, &limits);
        println!("Node {}: {:?} after {:?}", sandbox.version(), ran.answer, ran.took);
        check(&ran);
        assert!(ran.took < limits.wall + SLACK, "it took {:?}", ran.took);
        assert_eq!(world.state(), before, "Node {}", sandbox.version());
        assert_eq!(world.processes(), [""; 0], "Node {}", sandbox.version());
        accepts_a_good_script(&world, sandbox);
    }
}

fn accepts_a_good_script(world: &World, sandbox: &Sandbox) {
    let good = "module.exports = ({ files }) => files.length === 2;";
    let ran = world.validate(sandbox, good, &Limits::default());
    assert_eq!(ran.answer, Ok(()), "Node {}: {:?}", sandbox.version(), ran.output);
}
