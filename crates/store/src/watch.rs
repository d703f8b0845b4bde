//! Tells a writer whether anybody else touched the folder, for the price of one system call.
//!
//! Without it each append would ask for the state of every shard: a thousand calls to save one read. Where the system
//! has no such facility the answer is always "perhaps", and the caller looks for itself.

use std::collections::BTreeSet;

use daybook_core::ShardId;

use crate::ShardFolder;

/// What may have changed since the last question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// These shards, and nothing else.
    Only(BTreeSet<ShardId>),
    /// Anything.
    Unknown,
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::MaybeUninit;

    use rustix::fd::{AsRawFd, OwnedFd};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::{BTreeSet, Changes, ShardFolder, ShardId};

    /// A watch on one folder.
    #[derive(Debug)]
    pub(crate) struct Watch(Option<OwnedFd>);

    impl Watch {
        pub(crate) fn new(folder: &ShardFolder) -> Self {
            let watch = || {
                let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
                let interest = WatchFlags::MODIFY
                    | WatchFlags::ATTRIB
                    | WatchFlags::CREATE
                    | WatchFlags::DELETE
                    | WatchFlags::MOVE
                    | WatchFlags::DELETE_SELF
                    | WatchFlags::MOVE_SELF
                    | WatchFlags::ONLYDIR;
                inotify::add_watch(&queue, format!("/proc/self/fd/{}", folder.directory().as_raw_fd()), interest)?;
                Ok::<_, Errno>(queue)
            };
            Self(watch().ok())
        }

        pub(crate) fn changes(&mut self) -> Changes {
            let Some(queue) = &self.0 else { return Changes::Unknown };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(queue, &mut buffer);
            let mut touched = BTreeSet::new();
            let mut unknown = false;
            loop {
                match reader.next() {
                    Ok(event) if event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::IGNORED) => {
                        unknown = true
                    }
                    Ok(event) => match event.file_name().map(|name| name.to_str().ok()) {
                        Some(name) => touched.extend(name.and_then(ShardId::from_file_name)),
                        None => unknown = true,
                    },
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => {}
                    Err(_) => {
                        unknown = true;
                        break;
                    }
                }
            }
            if unknown { Changes::Unknown } else { Changes::Only(touched) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Changes, ShardFolder};

    /// No watch: the caller always looks for itself.
    #[derive(Debug)]
    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn new(_folder: &ShardFolder) -> Self {
            Self
        }

        pub(crate) fn changes(&mut self) -> Changes {
            Changes::Unknown
        }
    }
}

pub(crate) use system::Watch;
