//! Child processes of this program, which load libraries: a crash of the library is an answer, not
//! the end of the command.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::live::TUNABLES;
use crate::failure::{Failure, Outcome};
use crate::output;

/// End of a child process.
pub enum End<T> {
    /// The process printed an answer.
    Answer(T),
    /// The process printed an error: exit status and message.
    Error { status: i32, message: String },
    /// A signal ended the process: carries the signal and the last printed lines.
    Crash(String),
    /// The process exceeded the time limit.
    Late,
}

/// Polling interval of a child process with a time limit.
const LOOK: Duration = Duration::from_millis(2);

/// Runs this program with the given arguments and the path of a library, and reads the last line of
/// its output as JSON.
///
/// # Errors
/// [`Kind::Missing`](crate::failure::Kind::Missing) if it cannot be started.
pub fn ask<T: DeserializeOwned>(
    arguments: &[&str],
    library: &Path,
    limit: Duration,
) -> Outcome<End<T>> {
    let program = std::env::current_exe().map_err(|error| missing("find this program", error))?;
    let mut command = Command::new(program);
    command.args(arguments).arg("--").arg(library).env(TUNABLES.0, TUNABLES.1);
    run(command, limit)
}

/// Runs a program, and reads the last line of its output as JSON.
///
/// # Errors
/// [`Kind::Missing`](crate::failure::Kind::Missing) if it cannot be started.
pub fn run<T: DeserializeOwned>(mut command: Command, limit: Duration) -> Outcome<End<T>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| missing("start a child process", error))?;
    // Both are read while it runs, so that no full pipe stops it.
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status =
        wait(&mut child, limit).map_err(|error| missing("wait for a child process", error))?;
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(match status {
        None => End::Late,
        Some(status) => match status.code() {
            Some(0) => answer(&stdout),
            Some(status) => End::Error {
                status,
                message: stderr.trim_start_matches("error: ").trim_end().into(),
            },
            None => End::Crash(format!("{status}\n{stderr}").trim_end().into()),
        },
    })
}

fn missing(what: &str, error: std::io::Error) -> Failure {
    Failure::missing(format!("cannot {what}: {error}"))
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is kept.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the process to end. Kills it and returns `None` at the time limit.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Parses the last line, since the library itself may have printed other lines before.
fn answer<T: DeserializeOwned>(stdout: &str) -> End<T> {
    match serde_json::from_str(stdout.lines().last().unwrap_or_default()) {
        Ok(answer) => End::Answer(answer),
        Err(error) => {
            End::Error { status: 0, message: format!("the child process gave no answer: {error}") }
        }
    }
}

/// Prints the answer of a child process.
pub fn print_answer(answer: &impl Serialize) -> Outcome<()> {
    let line = serde_json::to_string(answer).map_err(Failure::negative)?;
    output::print(&format!("\n{line}\n"))
}
