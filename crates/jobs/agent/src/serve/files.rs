//! Ordinary files of a ledger's memory, measured while there is still time to do something about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use daybook_core::MemoryPath;
use daybook_core::config::MemoryConfig;
use daybook_core::policy::{FilePolicy, is_nearly_full, patch_bytes};
use daybook_store::staged::walk;
use serde_json::{Map, Value, json};

/// Most bytes of restored files that are remembered; a file beyond counts as new where it changes.
const MAX_REMEMBERED: usize = 64 * 1024 * 1024;

/// A memory's folder, its policy, and what was in it when the server started.
#[derive(Debug)]
pub(super) struct MemoryFiles {
    folder: PathBuf,
    policy: FilePolicy,
    before: BTreeMap<MemoryPath, Vec<u8>>,
}

impl MemoryFiles {
    /// Remembers the folder as it is; `None` where the policy cannot be used, which a checked configuration excludes.
    pub(super) fn new(memory: &MemoryConfig, memory_root: &Path) -> Option<Self> {
        let policy = FilePolicy::of(memory).ok()?;
        let folder = memory_root.join(memory.id.as_str());
        let listed = walk(&folder);
        let (mut before, mut remembered) = (BTreeMap::new(), 0);
        for found in listed.files.iter().filter(|found| !found.path.is_ledger()) {
            let Ok(Some(content)) = listed.read(&found.path, policy.max_file_size().get()) else { continue };
            remembered += content.len();
            if remembered > MAX_REMEMBERED {
                break;
            }
            before.insert(found.path.clone(), content);
        }
        Some(Self { folder, policy, before })
    }

    /// What of each bound is used, which rules would set files aside, and what is nearly full. No name of a file is in
    /// it.
    pub(super) fn usage(&self) -> Value {
        let listed = walk(&self.folder);
        let (mut files, mut patch, mut largest) = (0, 0, 0);
        let mut set_aside: Map<String, Value> = Map::new();
        for found in listed.files.iter().filter(|found| !found.path.is_ledger()) {
            files += 1;
            if let Err(why) = self.policy.check(&found.path, found.bytes) {
                let count = set_aside.get(why.code()).and_then(Value::as_u64).unwrap_or_default();
                set_aside.insert(why.code().to_owned(), (count + 1).into());
                continue;
            }
            largest = largest.max(found.bytes);
            let Ok(Some(content)) = listed.read(&found.path, self.policy.max_file_size().get()) else { continue };
            let before = self.before.get(&found.path).map(Vec::as_slice).unwrap_or_default();
            patch += patch_bytes(before, &content);
        }
        let bounds = [
            ("max-file-count", files, self.policy.max_file_count().get()),
            ("max-patch-size", patch, self.policy.max_patch_size().get()),
            ("max-file-size", largest, self.policy.max_file_size().get()),
        ];
        let nearly_full: Vec<&str> =
            bounds.iter().filter(|(_, used, bound)| is_nearly_full(*used, *bound)).map(|(name, ..)| *name).collect();
        let used = bounds.map(|(name, used, bound)| {
            (name.to_owned(), json!({"used": used, "limit": bound, "left": bound.saturating_sub(used)}))
        });
        json!({
            "limits": used.into_iter().collect::<Map<_, _>>(),
            "set_aside": set_aside,
            "nearly_full": nearly_full,
        })
    }
}
