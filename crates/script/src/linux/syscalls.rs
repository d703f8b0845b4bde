//! The system calls that Node needs. Every other one is answered as if the kernel did not know it.
//!
//! Landlock decides which files; this decides what can be asked at all: no process is started, no socket is made, no
//! other process is signalled or looked into, nothing is created, removed, renamed, or given other rights or times.

use std::collections::BTreeMap;

use nix::libc;
use rustix::process::getpid;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Allowed whatever their arguments are.
const ALLOWED: &[libc::c_long] = &[
    // Descriptors that are open, and opening: which file may be opened is Landlock's to say.
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_lseek,
    libc::SYS_fadvise64,
    libc::SYS_getdents64,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getcwd,
    libc::SYS_umask,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    // Threads.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_getparam,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // The event loop.
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_restart_syscall,
    // Its own signals.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    // Time, chance, and what it is.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getgroups,
    libc::SYS_capget,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    // The launcher becomes Node by it. Landlock leaves nothing else to execute, and what is executed is as restricted.
    libc::SYS_execve,
];

/// Calls of the same meaning that only this architecture has.
#[cfg(target_arch = "x86_64")]
const ALSO: &[libc::c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
#[cfg(target_arch = "aarch64")]
const ALSO: &[libc::c_long] = &[];

/// What Node asks of pipes, and of what might be a terminal.
#[cfg_attr(target_env = "gnu", expect(clippy::unnecessary_cast, reason = "the type differs between C libraries"))]
const IOCTL_REQUESTS: [u64; 6] = [
    libc::TCGETS as u64,
    libc::TIOCGWINSZ as u64,
    libc::FIONREAD as u64,
    libc::FIONBIO as u64,
    libc::FIOCLEX as u64,
    libc::FIONCLEX as u64,
];

/// Allowed where the low half of one argument, counted from 0, is one of these values.
const BY_ARGUMENT: &[(libc::c_long, u8, &[u64])] = &[
    // Not those commands that have signals sent to somebody.
    (
        libc::SYS_fcntl,
        1,
        &[
            libc::F_DUPFD as u64,
            libc::F_GETFD as u64,
            libc::F_SETFD as u64,
            libc::F_GETFL as u64,
            libc::F_SETFL as u64,
            libc::F_DUPFD_CLOEXEC as u64,
        ],
    ),
    (libc::SYS_ioctl, 1, &IOCTL_REQUESTS),
    // Names of threads and of memory.
    (libc::SYS_prctl, 0, &[libc::PR_SET_NAME as u64, libc::PR_GET_NAME as u64, libc::PR_SET_VMA as u64]),
];

/// Restricts this thread, and all that comes of it; `None` where the kernel refuses the filter.
pub(super) fn restrict() -> Option<()> {
    let rules = rules().ok()?;
    // glibc takes this answer for an older kernel and does without, as with `clone3`.
    let otherwise = SeccompAction::Errno(u32::try_from(libc::ENOSYS).ok()?);
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, otherwise, SeccompAction::Allow, architecture).ok()?;
    apply_filter(&BpfProgram::try_from(filter).ok()?).ok()
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = ALLOWED.iter().chain(ALSO).map(|call| (*call, Vec::new())).collect();
    for (call, argument, values) in BY_ARGUMENT {
        let one = values.iter().map(|value| when(*argument, SeccompCmpOp::Eq, *value));
        rules.insert(*call, one.collect::<Result<_, _>>()?);
    }
    // A thread, never a process.
    let thread = libc::CLONE_THREAD as u64;
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
    // Signals to itself.
    let itself = u64::from(getpid().as_raw_nonzero().get().unsigned_abs());
    for call in [libc::SYS_kill, libc::SYS_tgkill] {
        rules.insert(call, vec![when(0, SeccompCmpOp::Eq, itself)?]);
    }
    // Asking for its own bounds, not setting any.
    let itself = condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0)?;
    let nothing_new = condition(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![itself, nothing_new])?]);
    Ok(rules)
}

fn when(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, SeccompCmpArgLen::Dword, comparison, value)?])
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, length, comparison, value)
}
