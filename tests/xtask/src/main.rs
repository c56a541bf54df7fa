//! Runs the checks of the project, whose commands are in `tests/ci`: `cargo xtask --help` says how.

mod catalog;
mod command;
mod count;
mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use catalog::{Catalog, Check};
use command::{Result, output};
use count::Count;
use run::{finish, run_all, run_rest, say};

const USAGE: &str = "\
usage: cargo xtask check NAME...       runs these checks
       cargo xtask check --for PATH... names the checks that a change of these files or folders can break
       cargo xtask ci                  runs the first set: what each change must pass
       cargo xtask nightly [NAME...]   runs the second set, or these of it: what takes long. Goes on where a run of the
                                       same sources stopped
       cargo xtask list [SET...]       names the checks of all sets, or of these, one line each

A check that lacks a tool fails and says what to install; one that counts no test fails. Logs go to
target/ci/NAME.log; the last line is the sum: \"N passed, N failed\".";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(passed) => ExitCode::from(u8::from(!passed)),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs a command. Returns `true` if everything passed.
fn command(words: &[&str]) -> Result<bool> {
    let folder = std::env::current_dir().unwrap_or_default();
    std::env::set_current_dir(root()).map_err(|error| format!("{}: {error}", root().display()))?;
    let catalog = Catalog::read()?;
    let passed = match words {
        ["check", "--for", paths @ ..] if !paths.is_empty() => {
            concerned(&catalog, &files_of(&folder, paths)?)
        }
        ["check", names @ ..] if !names.is_empty() => {
            let checks = catalog.named(names)?;
            finish(|| run_all(&catalog, &checks))?
        }
        ["ci"] => {
            enough_space()?;
            finish(|| run_lanes(&catalog, ["lane-one", "lane-two"]))?
        }
        ["nightly", names @ ..] => {
            let checks =
                if names.is_empty() { catalog.set("nightly") } else { catalog.named(names)? };
            finish(|| run_rest(&catalog, &checks))?
        }
        ["list", sets @ ..] => list(&catalog, sets),
        ["--help" | "-h"] => say(USAGE),
        _ => return Err(format!("unknown arguments\n{USAGE}")),
    };
    Ok(passed)
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fails if the disk is too full for the first set. Its builds take 9 GB, and what it downloads 7
/// GB. On a full disk, checks fail one after the other with other messages.
fn enough_space() -> Result<()> {
    let kilobytes = output("df", &["--output=avail", "-k", "."]);
    let free =
        kilobytes.lines().last().and_then(|line| line.trim().parse::<u64>().ok()).unwrap_or(0)
            >> 20;
    let message = "the first set needs 12 GiB of free disk space, and 20 GiB if nothing is downloaded yet; there are";
    if free >= 12 { Ok(()) } else { Err(format!("{message} {free}")) }
}

/// Runs sets in parallel.
fn run_lanes(catalog: &Catalog, sets: [&str; 2]) -> Count {
    std::thread::scope(|scope| {
        let lanes = sets.map(|set| scope.spawn(move || run_all(catalog, &catalog.set(set))));
        let counts =
            lanes.map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        counts.into_iter().fold(Count::default(), Count::plus)
    })
}

fn list(catalog: &Catalog, sets: &[&str]) -> bool {
    for (set, names) in &catalog.sets {
        let mark = if set.starts_with("lane") {
            String::new()
        } else {
            format!("  [{}]", set.replace('-', " "))
        };
        for name in names.iter().filter(|_| sets.is_empty() || sets.contains(&set.as_str())) {
            say(&format!("{name}: {}{mark}", catalog.checks[name].about));
        }
    }
    true
}

/// Prints commands that run the checks with a path to one of these files.
fn concerned(catalog: &Catalog, files: &[String]) -> bool {
    let concerns =
        |check: &&Check| check.paths.iter().any(|path| files.iter().any(|file| is_in(file, path)));
    let first: &[&str] = &["lane-one", "lane-two"];
    for (command, sets) in
        [("check", first), ("nightly", &["nightly"]), ("check", &["only-when-named"])]
    {
        let checks = sets.iter().flat_map(|set| catalog.set(set)).filter(concerns);
        let names: String = checks.map(|check| format!(" {}", check.name)).collect();
        if !names.is_empty() {
            say(&format!("cargo xtask {command}{names}"));
        }
    }
    true
}

/// Returns these files and the files of these folders, by their paths from the root.
fn files_of(folder: &Path, paths: &[&str]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for path in paths {
        let mut git = Command::new("git");
        git.args([
            "ls-files",
            "-z",
            "--full-name",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            path,
        ]);
        let output = git.current_dir(folder).output().map_err(|error| format!("git: {error}"))?;
        if output.stdout.is_empty() {
            return Err(format!("no file of the repository: {path}"));
        }
        files.extend(
            String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(str::to_owned),
        );
    }
    Ok(files)
}

/// Returns `true` if a file is at a path or below it, or ends as in `*.md`.
fn is_in(file: &str, path: &str) -> bool {
    match path.strip_prefix('*') {
        Some(end) => file.ends_with(end),
        None => {
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_matched_by_folder_and_by_end() {
        assert!(
            is_in("core/src/lib.rs", "core")
                && is_in("core/src/lib.rs", "*.rs")
                && is_in("README.md", "README.md")
        );
        assert!(!is_in("core-size/a", "core") && !is_in("a.rst", "*.rs"));
    }

    #[test]
    fn every_path_of_a_check_is_in_the_repository() {
        std::env::set_current_dir(root()).unwrap();
        for check in Catalog::read().unwrap().checks.values() {
            assert!(check.paths.len() > 1, "{} names no path", check.name);
            let missing =
                check.paths.iter().find(|path| !path.starts_with('*') && !Path::new(path).exists());
            assert_eq!(missing, None, "{}", check.name);
        }
    }

    #[test]
    fn folders_have_files_and_unknown_paths_are_errors() {
        assert_eq!(
            files_of(&root().join("tests"), &["xtask/Cargo.toml"]),
            Ok(vec!["tests/xtask/Cargo.toml".to_owned()])
        );
        assert!(files_of(&root(), &["docs"]).unwrap().len() > 30);
        assert!(files_of(&root(), &["no-such-path"]).is_err());
    }
}
