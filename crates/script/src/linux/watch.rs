//! Starts the launcher and watches what it became: bounded time, bounded output, and nothing left behind.
//!
//! One thread waits for four things at once, so that no order of reading and writing can block it. The process cannot
//! start another one (see `syscalls`), so that killing it is killing all there is.

use std::io::{self, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::order::{Cut, Ended, LAUNCHER, Order};
use crate::{Fault, Launcher, Limits};

const CHUNK: usize = 64 * 1024;

/// Runs one process to its end, and kills it at a bound.
pub(crate) fn run(launcher: &Launcher, order: &Order, input: &[u8], limits: &Limits) -> Result<Ended, Fault> {
    let begun = Instant::now();
    let order = serde_json::to_string(order).map_err(io::Error::from)?;
    let child = Command::new(launcher.program())
        .arg(LAUNCHER)
        .arg(order)
        .env_clear()
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut process = Process(child);
    let mut answer = Bounded::new(process.0.stdout.take(), limits.answer_bytes, Cut::Answer)?;
    let mut output = Bounded::new(process.0.stderr.take(), limits.output_bytes, Cut::Output)?;
    let mut input = Feed::new(process.0.stdin.take(), input)?;
    let pid = Pid::from_child(&process.0);
    let exit = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
    let until = begun + limits.wall;
    let cut = loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Some(Cut::Time);
        }
        let mut waited = vec![PollFd::new(&exit, PollFlags::IN)];
        waited.extend(answer.source.iter().map(|source| PollFd::new(source, PollFlags::IN)));
        waited.extend(output.source.iter().map(|source| PollFd::new(source, PollFlags::IN)));
        waited.extend(input.sink.iter().map(|sink| PollFd::new(sink, PollFlags::OUT)));
        match poll(&mut waited, Some(&timespec(left))) {
            Err(Errno::INTR) => continue,
            result => result.map_err(io::Error::from)?,
        };
        let has_ended = waited.first().is_some_and(|exit| !exit.revents().is_empty());
        drop(waited);
        input.feed();
        // After the end, what the pipes still hold is read; nobody is left who could add to it.
        if let Some(cut) = answer.drain()?.or(output.drain()?) {
            break Some(cut);
        }
        if has_ended {
            break None;
        }
    };
    let status = process.end()?;
    Ok(Ended {
        code: status.code(),
        signal: status.signal(),
        cut,
        answer: answer.bytes,
        output: output.bytes,
        took: begun.elapsed(),
    })
}

fn timespec(left: Duration) -> Timespec {
    // A bit longer than asked, so that it does not wake up just before the time and spin.
    let left = left + Duration::from_millis(1);
    Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
}

/// The process; it does not outlive this.
struct Process(Child);

impl Process {
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(status);
        }
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.kill();
        self.0.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The input on its way in. A process that does not want it may close its end.
struct Feed<'a> {
    sink: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    fn new(sink: Option<ChildStdin>, rest: &'a [u8]) -> io::Result<Self> {
        sink.as_ref().map(without_blocking).transpose()?;
        Ok(Self { sink, rest })
    }

    fn feed(&mut self) {
        while let Some(sink) = &mut self.sink {
            match sink.write(self.rest) {
                Ok(written) if written < self.rest.len() => self.rest = self.rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // All is written, or nobody reads it.
                Ok(_) | Err(_) => self.sink = None,
            }
        }
    }
}

/// What comes out of a pipe, up to a bound.
struct Bounded<R> {
    source: Option<R>,
    bytes: Vec<u8>,
    bound: usize,
    over: Cut,
}

impl<R: Read + AsFd> Bounded<R> {
    fn new(source: Option<R>, bound: usize, over: Cut) -> io::Result<Self> {
        source.as_ref().map(without_blocking).transpose()?;
        Ok(Self { source, bytes: Vec::new(), bound, over })
    }

    /// Reads what is there; the cut, where that is more than the bound.
    fn drain(&mut self) -> io::Result<Option<Cut>> {
        let mut chunk = vec![0; CHUNK];
        while let Some(source) = &mut self.source {
            match source.read(&mut chunk) {
                Ok(0) => self.source = None,
                Ok(read) => {
                    let room = self.bound - self.bytes.len();
                    self.bytes.extend(chunk.iter().take(read.min(room)));
                    if read > room {
                        return Ok(Some(self.over));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

fn without_blocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}
