//! Runs checks: logs, times, results and their sum.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::catalog::{Catalog, Check};
use crate::command::{Result, output};
use crate::count::{Count, counted, explanation, skipped};

/// Runs a check in a process group of its own, and ends this group if the runner ends first, even
/// by SIGKILL: the runner has the other end of standard input, writes a line to it when the check
/// has ended, and closes it.
const WATCHED: &str = r#"exec 3<&0 </dev/null
{ read -r <&3 || echo "error: the runner ended before the check"; kill 0; } &
exec bash tests/ci/checks.sh "$0" 3<&-"#;

/// Runs checks by `run` and prints their sum. Returns `true` if all passed and, in CI, no tracked
/// file changed.
pub fn finish(run: impl FnOnce() -> Count) -> Result<bool> {
    let folder = logs().join("passed");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let before = output("git", &["diff"]);
    let mut count = run();
    if std::env::var("CI").is_ok_and(|value| value == "true") && output("git", &["diff"]) != before
    {
        let files = explanation(&output("git", &["diff", "--stat"]));
        say(&format!("FAILED  the checks changed tracked files:{files}"));
        count.failed += 1;
    }
    if count.skipped > 0 {
        say(&format!("{} skipped", count.skipped));
    }
    say(&format!("{} passed, {} failed", count.passed, count.failed));
    Ok(count.failed == 0)
}

/// Runs checks in this order.
pub fn run_all(catalog: &Catalog, checks: &[&Check]) -> Count {
    checks.iter().map(|check| run(catalog, check).1).fold(Count::default(), Count::plus)
}

/// Runs the checks that have not passed with these sources yet, in this order.
pub fn run_rest(catalog: &Catalog, checks: &[&Check]) -> Count {
    let key = sources_key();
    checks
        .iter()
        .map(|check| run_unless_passed(catalog, check, &key))
        .fold(Count::default(), Count::plus)
}

fn run_unless_passed(catalog: &Catalog, check: &Check, key: &str) -> Count {
    let mark = logs().join("passed").join(&check.name);
    let before = fs::read_to_string(&mark).unwrap_or_default();
    if let Some(passed) = before.strip_prefix(key).and_then(|passed| passed.trim().parse().ok()) {
        say(&format!(
            "ok      {:<17} passed before with these sources: {passed} passed",
            check.name
        ));
        return Count { passed, ..Count::default() };
    }
    let start = Instant::now();
    let (ok, mut count) = run(catalog, check);
    if ok && start.elapsed().as_secs() > 3600 {
        say(&format!("FAILED  {} takes longer than an hour: split it", check.name));
        count.failed += 1;
    } else if ok {
        // Without the mark, the check runs again.
        _ = fs::write(&mark, format!("{key}\n{}\n", count.passed));
    }
    count
}

/// Returns a key of the sources: the commit, the differences from it, and untracked files.
fn sources_key() -> String {
    let mut hasher = DefaultHasher::new();
    (output("git", &["rev-parse", "HEAD"]), output("git", &["diff", "HEAD"])).hash(&mut hasher);
    for file in
        output("git", &["ls-files", "--others", "--exclude-standard", "-z"]).split_terminator('\0')
    {
        (file, fs::read(file).ok()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Runs a check. Prints one line and what explains a failure, in one piece, since lanes share the
/// output. Returns `true` if it passed, and its tests.
fn run(catalog: &Catalog, check: &Check) -> (bool, Count) {
    let log = logs().join(format!("{}.log", check.name));
    let start = Instant::now();
    let ended = execute(catalog, check, &log);
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    let (count, error) = judge(check, &text, ended);
    let passed =
        format!("{:<17} {:>5} s  {} passed", check.name, start.elapsed().as_secs(), count.passed);
    let mut report = format!("ok      {passed}");
    if let Some(error) = &error {
        report = format!("FAILED  {passed}, {} failed: {}", count.failed, log.display());
        report += &explanation(&if text.contains(error) {
            text.clone()
        } else {
            format!("{text}\n{error}")
        });
    }
    skipped(&text)
        .iter()
        .for_each(|reason| report += &format!("\nSKIPPED {:<17} {reason}", check.name));
    say(&report);
    (error.is_none(), count)
}

/// Runs the commands of a check, with their output in its log. Returns an error if a tool is
/// missing or they fail.
fn execute(catalog: &Catalog, check: &Check, log: &Path) -> Result<()> {
    let describe = |error: std::io::Error| format!("error: {}: {error}", log.display());
    let output = File::create(log).map_err(describe)?;
    let missing: Vec<String> =
        check.needs.iter().filter_map(|name| catalog.missing(name)).collect();
    if !missing.is_empty() {
        (&output).write_all(missing.join("\n").as_bytes()).map_err(describe)?;
        return Err(missing.join("\n"));
    }
    let mut command = Command::new("bash");
    command.args(["-c", WATCHED, &check.name]).process_group(0).stdin(Stdio::piped());
    command.stdout(output.try_clone().map_err(describe)?).stderr(output);
    let mut child = command.spawn().map_err(describe)?;
    let watch = child.stdin.take();
    let status = child.wait().map_err(describe)?;
    // The check may have ended its whole group, and so the reader of this line.
    _ = watch.map(|mut watch| watch.write_all(b"\n"));
    if status.success() { Ok(()) } else { Err(format!("error: {status}")) }
}

/// Counts the tests in a check's log, one if it passes as a whole. Returns why it has failed: its
/// commands failed, or tests did, or no test was counted.
fn judge(check: &Check, log: &str, ended: Result<()>) -> (Count, Option<String>) {
    let runners = counted(log);
    let mut count = Count { skipped: skipped(log).len(), ..runners.unwrap_or_default() };
    if ended.is_ok() && count.skipped == 0 && runners.is_none() && check.counts_one {
        count.passed = 1;
    }
    let error = match ended {
        Err(error) => Some(error),
        Ok(()) if count.failed > 0 => Some("error: tests failed, but no command did".to_owned()),
        Ok(()) if count.passed == 0 && count.skipped == 0 => {
            Some("error: no test was counted".to_owned())
        }
        Ok(()) => None,
    };
    count.failed = count.failed.max(i64::from(error.is_some()));
    (count, error)
}

/// Returns the folder of logs.
fn logs() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    std::env::current_dir().unwrap_or_default().join(target).join("ci")
}

/// Prints a line. Returns `true`, also if the reader has closed the pipe.
pub fn say(text: &str) -> bool {
    writeln!(std::io::stdout(), "{text}").map_or(true, |()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(counts_one: bool, log: &str) -> (i64, i64, bool) {
        let (count, error) = judge(&Check { counts_one, ..Check::default() }, log, Ok(()));
        (count.passed, count.failed, error.is_none())
    }

    #[test]
    fn checks_that_count_no_test_fail() {
        assert_eq!(judged(false, "done"), (0, 1, false));
        assert_eq!(judged(false, "test result: ok. 0 passed; 0 failed"), (0, 1, false));
        assert_eq!(judged(true, "test result: ok. 0 passed; 0 failed"), (0, 1, false));
        assert_eq!(judged(false, "test result: ok. 3 passed; 0 failed"), (3, 0, true));
        assert_eq!(judged(true, "done"), (1, 0, true));
        assert_eq!(judged(true, "skipped: no network"), (0, 0, true));
    }

    #[test]
    fn failed_tests_count_although_commands_succeed() {
        assert_eq!(judged(true, "test result: FAILED. 3 passed; 2 failed"), (3, 2, false));
    }

    #[test]
    fn failed_commands_count_as_one_failure_at_least() {
        let (count, error) = judge(
            &Check::default(),
            "test result: ok. 3 passed; 0 failed",
            Err("error: status 1".to_owned()),
        );
        assert_eq!((count.passed, count.failed, error.is_some()), (3, 1, true));
    }
}
