//! Programs run on a library in a process of their own, which a crash ends alone.
//!
//! A worker is a process that has one library open. For each program it forks a child that runs it,
//! so that programs do not share what they register.

#[path = "../../tests/watchdog/watchdog.rs"]
mod watchdog;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{Library, Machine, Program, notes};

/// Seconds without processor time after which a child is ended.
const SECONDS: u32 = 10;

/// First byte of a line that says which step begins.
const BEGINS: char = '>';

/// Notes of the run of a program, and its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Notes by step; those of the end of the program come last.
    pub steps: Vec<Vec<String>>,
    /// The signal or the status that ended the child before the end of the program.
    pub crash: Option<String>,
}

impl Run {
    /// Returns `true` if the run waited for threads before the step of this number.
    pub fn joined(&self, number: usize) -> bool {
        self.steps
            .get(number)
            .is_some_and(|notes| notes.iter().any(|note| note == "threads joined"))
    }

    /// Returns `true` if the step of this number ran: it was not left out, and no crash came before
    /// it.
    pub fn ran(&self, number: usize) -> bool {
        self.steps
            .get(number)
            .is_some_and(|notes| !notes.iter().any(|note| note.ends_with(": skipped")))
    }
}

/// Runs programs from standard input until it ends. Each is a length of four bytes and its bytes.
pub fn serve(library: &Path) -> Result<(), String> {
    let library: &'static Library = Box::leak(Box::new(Library::open(library)?));
    notes::want();
    warm_up(library);
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut len = [0; 4];
    while input.read_exact(&mut len).is_ok() {
        let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
        input.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        let answer = run_child(library, &bytes)?;
        let sent = output
            .write_all(&(answer.len() as u32).to_le_bytes())
            .and_then(|()| output.write_all(&answer));
        sent.and_then(|()| output.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Raises and releases an error. The first backtrace of upstream's library reads debug information
/// for half a second, which each child would do again.
fn warm_up(library: &Library) {
    let mut error = std::ptr::null_mut();
    // SAFETY: the strings are C strings, and the error is owned.
    unsafe {
        (library.symbols.TVMFFIErrorSetRaisedFromCStr)(c"ValueError".as_ptr(), c"".as_ptr());
        (library.symbols.TVMFFIErrorMoveFromRaised)(&mut error);
        (library.symbols.TVMFFIObjectDecRef)(error);
    }
}

/// Forks a child that runs a program, and returns its notes and how it ended.
fn run_child(library: &'static Library, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut ends = [0; 2];
    // SAFETY: the array has two elements; the process has one thread, so the child may do anything.
    let child = unsafe {
        if libc::pipe(ends.as_mut_ptr()) != 0 {
            return Err("no pipe".into());
        }
        libc::fork()
    };
    if child < 0 {
        return Err("no child".into());
    }
    if child == 0 {
        // SAFETY: the child ends with this call.
        unsafe {
            libc::close(ends[0]);
            watchdog::watchdog(SECONDS);
            // Upstream's handler describes the crash for half a second.
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            // The logs of millions of programs are of no use.
            libc::close(2);
            in_child(library, bytes, ends[1]);
            libc::_exit(0)
        }
    }
    let mut answer = Vec::new();
    // SAFETY: the ends of the pipe are owned here; the child is waited for once.
    unsafe {
        use std::os::fd::FromRawFd;
        libc::close(ends[1]);
        let read = std::fs::File::from_raw_fd(ends[0]).read_to_end(&mut answer);
        read.map_err(|error| error.to_string())?;
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        if libc::WIFSIGNALED(status) {
            answer.extend(format!("!signal {}\n", libc::WTERMSIG(status)).bytes());
        } else if libc::WEXITSTATUS(status) != 0 {
            answer.extend(format!("!exit status {}\n", libc::WEXITSTATUS(status)).bytes());
        }
    }
    Ok(answer)
}

fn in_child(library: &'static Library, bytes: &[u8], to: i32) {
    let send = |begins: Option<usize>| {
        let mut text: String = notes::take().iter().map(|line| format!(" {line}\n")).collect();
        if let Some(number) = begins {
            text += &format!("{BEGINS}{number}\n");
        }
        // SAFETY: the bytes live through the call; the pipe is open.
        unsafe { libc::write(to, text.as_ptr().cast(), text.len()) };
    };
    let program = Program::decode(bytes);
    let mut machine = Machine::new(library);
    machine.run(&program, |number| send(Some(number)));
    send(Some(program.lines.len()));
    let broken = machine.finish();
    broken.iter().for_each(|line| notes::note(|| format!("broken: {line}")));
    send(None);
}

/// A worker, seen from the process that started it.
pub struct Worker {
    child: Child,
}

impl Worker {
    /// Starts this program as the worker of a library.
    pub fn start(library: &Path) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let child = Command::new(program)
            .arg("--worker")
            .arg(library)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        Ok(Self { child })
    }

    /// Runs a program.
    pub fn run(&mut self, program: &Program) -> Result<Run, String> {
        let bytes = program.encode();
        let answer = self.exchange(&bytes).map_err(|error| format!("the worker ended: {error}"))?;
        Ok(parse(&String::from_utf8_lossy(&answer), program.lines.len()))
    }

    fn exchange(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let to = self.child.stdin.as_mut().expect("the child has a pipe");
        to.write_all(&(bytes.len() as u32).to_le_bytes())?;
        to.write_all(bytes)?;
        to.flush()?;
        let from = self.child.stdout.as_mut().expect("the child has a pipe");
        let mut len = [0; 4];
        from.read_exact(&mut len)?;
        let mut answer = vec![0; u32::from_le_bytes(len) as usize];
        from.read_exact(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends with its input.
        let _ = self.child.wait();
    }
}

fn parse(answer: &str, steps: usize) -> Run {
    let mut run = Run { steps: vec![Vec::new(); steps + 1], crash: None };
    let mut at = 0;
    for line in answer.lines() {
        if let Some(number) = line.strip_prefix(BEGINS) {
            at = number.parse().unwrap_or(at);
        } else if let Some(crash) = line.strip_prefix('!') {
            run.crash = Some(crash.to_string());
            run.steps.truncate(at + 1);
        } else if let Some(notes) = run.steps.get_mut(at) {
            notes.push(line.trim_start().to_string());
        }
    }
    run
}
