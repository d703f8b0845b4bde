//! Bounds on what the process may use, kept by the kernel.

use rustix::io;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::order::Order;

const FILES: u64 = 256;
const STACK_BYTES: u64 = 8 * 1024 * 1024;

/// Sets every bound, soft and hard alike, but for processor time: the second between the two tells it from a kill.
pub(super) fn bound(order: &Order) -> io::Result<()> {
    for (resource, bound) in [
        // What a process maps privately and may write: heap, array buffers, stacks. The bound on addresses would be no
        // use, as V8 reserves far more of them than it fills.
        (Resource::Data, order.data_bytes),
        (Resource::Stack, STACK_BYTES),
        (Resource::Nofile, FILES),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
    ] {
        set(resource, bound, bound)?;
    }
    set(Resource::Cpu, order.cpu_seconds, order.cpu_seconds.saturating_add(1))
}

/// A bound that is lower already stays.
fn set(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let before = getrlimit(resource);
    let hard = before.maximum.map_or(hard, |before| before.min(hard));
    setrlimit(resource, Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) })
}
