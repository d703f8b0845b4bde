//! What the script may open: the files that Node is made of, and the tree that it is to read. Nothing to write.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};

use crate::Strength;

/// What has to be enforced, and what is where the kernel knows it.
const REQUIRED: ABI = ABI::V3;
const WANTED: ABI = ABI::V10;

/// Where shared libraries are. Some distributions keep parts of Node itself as files.
const LIBRARIES: [&str; 7] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/nodejs", "/nix/store"];

/// Files that the dynamic loader and Node read. None of them tells anything about the user or the run.
const FILES: [&str; 3] = ["/etc/ld.so.cache", "/dev/null", "/dev/urandom"];

/// The program that loads shared libraries is itself executed.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Restricts this process; `None` where the kernel does not enforce all that is required.
pub(super) fn restrict(program: &Path, tree: Option<&Path>) -> Option<Strength> {
    let mut ruleset = empty().ok()?;
    let file = BitFlags::from(AccessFs::ReadFile);
    let folder = file | AccessFs::ReadDir;
    let executable = file | AccessFs::Execute;
    for loader in LOADERS {
        ruleset = grant_if_there(ruleset, loader.as_ref(), executable)?;
    }
    for path in FILES {
        ruleset = grant_if_there(ruleset, path.as_ref(), file)?;
    }
    for path in LIBRARIES {
        ruleset = grant_if_there(ruleset, path.as_ref(), folder)?;
    }
    ruleset = grant(ruleset, PathFd::new(program).ok()?, executable)?;
    if let Some(tree) = tree {
        ruleset = grant(ruleset, PathFd::new(tree).ok()?, folder)?;
    }
    strength(&ruleset.restrict_self().ok()?)
}

/// A ruleset that refuses everything.
fn empty() -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .handle_access(AccessNet::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?
        .create()?;
    Ok(ruleset.set_compatibility(CompatLevel::HardRequirement))
}

fn grant_if_there(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Option<RulesetCreated> {
    match PathFd::new(path) {
        Ok(opened) => grant(ruleset, opened, access),
        Err(_) => Some(ruleset),
    }
}

fn grant(ruleset: RulesetCreated, opened: PathFd, access: BitFlags<AccessFs>) -> Option<RulesetCreated> {
    ruleset.add_rule(PathBeneath::new(opened, access)).ok()
}

fn strength(status: &RestrictionStatus) -> Option<Strength> {
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else { return None };
    (status.no_new_privs && effective_abi >= REQUIRED).then(|| Strength {
        landlock: effective_abi as u32,
        tcp: effective_abi >= ABI::V4,
        signals: effective_abi >= ABI::V6,
    })
}
