//! Counts of tests in logs, and the part of a log that explains a failure.

/// Scripts of the project whose last line is `NAME: N passed, N failed`. Lines of other names are
/// for readers only.
const SCRIPTS: &str = "upstream: differential: findings: coverage: boards: platform: clients: drift: install: windows: planted: \
    mutants: python-programs: python-fast: web:";

/// Numbers of tests, and of parts that checks left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub passed: i64,
    pub failed: i64,
    pub skipped: usize,
}

impl Count {
    /// Returns the sum of two counts.
    pub fn plus(self, other: Self) -> Self {
        let (passed, failed) = (self.passed + other.passed, self.failed + other.failed);
        Self { passed, failed, skipped: self.skipped + other.skipped }
    }
}

/// Returns the total of the sums that runners of tests printed, or `None` without one. The runners
/// are cargo, unittest, pytest and scripts of the project.
pub fn counted(log: &str) -> Option<Count> {
    let sums = log.lines().filter_map(sum_of_line).map(|(passed, failed)| Count {
        passed,
        failed,
        skipped: 0,
    });
    let total = sums.reduce(Count::plus)?;
    Some(Count { passed: total.passed.max(0), ..total })
}

/// Returns how many tests passed and failed, if a line is a sum.
fn sum_of_line(line: &str) -> Option<(i64, i64)> {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    let before = |name: &str| {
        words
            .windows(2)
            .find(|pair| pair[1] == name)
            .and_then(|pair| pair[0].parse().ok())
            .unwrap_or(0)
    };
    let failed = || before("failed") + before("error") + before("errors");
    match words[..] {
        _ if line.starts_with(' ') => None,
        // cargo: `test result: ok. 5 passed; 0 failed; 1 ignored; ...`
        ["test", "result:", ..] => Some((before("passed"), failed())),
        // unittest: `Ran 5 tests in 0.1s`, and `FAILED (failures=1, skipped=1)`, which takes some
        // of these back.
        ["Ran", tests, "test" | "tests", "in", ..] => Some((tests.parse().ok()?, 0)),
        ["OK" | "FAILED", first, ..] if first.starts_with('(') && line.contains('=') => {
            let parts = line.split_once('(')?.1.trim_end_matches(')');
            let of = |key: &str| {
                parts.split(", ").find_map(|part| part.strip_prefix(key)?.parse().ok()).unwrap_or(0)
            };
            let failed = of("failures=") + of("errors=");
            Some((-failed - of("skipped="), failed))
        }
        // Scripts: `NAME: 5 passed, 1 failed`.
        [name, passed, "passed", failed, "failed"]
            if SCRIPTS.split(' ').any(|script| script == name) =>
        {
            Some((passed.parse().ok()?, failed.parse().ok()?))
        }
        // pytest: `5 passed, 1 failed, 3 skipped in 0.12s`
        [number, "passed" | "failed" | "error" | "errors" | "skipped", ..]
            if ends_with_time(&words) =>
        {
            number.parse::<i64>().ok().map(|_| (before("passed"), failed()))
        }
        _ => None,
    }
}

fn ends_with_time(words: &[&str]) -> bool {
    words.windows(2).any(|pair| {
        pair[0] == "in"
            && pair[1].ends_with('s')
            && pair[1].starts_with(|digit: char| digit.is_ascii_digit())
    })
}

/// Returns the reasons of what a check left out: it prints them as `skipped: TEXT`.
pub fn skipped(log: &str) -> Vec<&str> {
    log.lines().filter_map(|line| line.strip_prefix("skipped: ")).collect()
}

/// Returns the last lines of a log that explain a failure, without the output of passed tests,
/// indented.
pub fn explanation(log: &str) -> String {
    let mut hidden = false;
    let explains = |line: &&str| {
        hidden = (hidden || *line == "successes:")
            && *line != "failures:"
            && !line.starts_with("test result: ");
        let passed = line.starts_with("test ") && line.contains(" ... ok");
        !hidden
            && !passed
            && !line.is_empty()
            && !line.starts_with("   Compiling")
            && !line.starts_with("  Downloaded")
    };
    let lines: Vec<&str> = log.lines().filter(explains).collect();
    lines[lines.len().saturating_sub(60)..].iter().map(|line| format!("\n        {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_counts(log: &str, (passed, failed): (i64, i64)) {
        assert_eq!(counted(log), Some(Count { passed, failed, skipped: 0 }), "{log}");
    }

    #[test]
    fn sums_of_all_runners_are_added() {
        assert_counts(
            "test result: ok. 5 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.00s",
            (5, 1),
        );
        assert_counts("Ran 7 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)", (3, 3));
        assert_counts("Ran 1 test in 0.1s\n\nOK", (1, 0));
        assert_counts("Ran 3 tests in 0.1s\nOK (skipped=1, expected failures=1)", (2, 0));
        assert_counts("2582 passed, 38 skipped, 3 xfailed, 1 warning in 51.33s", (2582, 0));
        assert_counts("1 failed, 4 passed, 2 errors in 61.00s (0:01:01)", (4, 3));
        assert_counts("upstream: 12 passed, 3 failed\nplatform: 1 passed, 0 failed", (13, 3));
    }

    #[test]
    fn other_lines_are_not_counted() {
        let lines = "python: 2 passed, 0 failed\nsum: 1 passed, 0 failed\nRan into 5 tests\n5 passed gates in time\ntests: ok\n\
            FAILED budget of core (x=1)\n  test result: ok. 1 passed; 0 failed";
        assert_eq!(counted(lines), None);
    }

    #[test]
    fn explanations_leave_out_what_passed() {
        let log = "test a ... ok\ntest b ... FAILED\n\nsuccesses:\noutput of a\n\nfailures:\noutput of b\n   Compiling c";
        assert_eq!(
            explanation(log),
            "\n        test b ... FAILED\n        failures:\n        output of b"
        );
        assert_eq!(explanation(&"line\n".repeat(70)).lines().count(), 61);
    }
}
