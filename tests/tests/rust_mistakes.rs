//! Mistakes in classes, exported functions and lifetimes: each program of `programs/rust/mistakes`
//! has one, and the compiler reports one error, at the line with the comment `//~` and with the
//! text after it.
#![forbid(unsafe_code)]

use ferrite_tests::{Outcome, root, scratch};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Errors of a program: line and message.
type Errors = Vec<(usize, String)>;

const MANIFEST: &str = "[package]\nname = \"mistakes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";

/// Writes a package whose examples are the programs. Returns the errors that they should have.
fn write_package(folder: &Path) -> Outcome<BTreeMap<String, Errors>> {
    let features = "default-features = false, features = [\"macros\", \"relax\"]";
    let dependency =
        format!("ferrite-ffi = {{ path = {:?}, {features} }}\n", root().join("targets/rust"));
    let examples = folder.join("examples");
    // Programs that are no longer there must not stay.
    let _ = fs::remove_dir_all(&examples);
    fs::create_dir_all(&examples)?;
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::write(folder.join("Cargo.toml"), format!("{MANIFEST}{dependency}"))?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut expected = BTreeMap::new();
    for entry in fs::read_dir(root().join("tests/programs/rust/mistakes"))? {
        let program = entry?.path();
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = fs::read_to_string(&program)?;
        fs::write(examples.join(format!("{name}.rs")), &source)?;
        let marked = source.lines().enumerate();
        let marked =
            marked.filter_map(|(at, line)| Some((at + 1, line.split_once("//~ ")?.1.to_owned())));
        expected.insert(name, marked.collect());
    }
    Ok(expected)
}

/// Reads a line of the compiler, `examples/NAME.rs:LINE:COLUMN: error[CODE]: MESSAGE`.
fn error_of(line: &str) -> Option<(String, (usize, String))> {
    let (name, rest) = line.strip_prefix("examples/")?.split_once(".rs:")?;
    let (at, rest) = rest.split_once(':')?;
    let (_, rest) = rest.split_once(": error")?;
    let (_, message) = rest.split_once(": ")?;
    Some((name.to_owned(), (at.parse().ok()?, message.to_owned())))
}

/// Compiles the programs. Returns the errors of each.
fn compile(folder: &Path) -> Outcome<BTreeMap<String, Errors>> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    // The dependencies of the projects in `rust_projects` are there.
    command.current_dir(folder).env("CARGO_TARGET_DIR", scratch("rust-projects")?);
    command.args([
        "check",
        "--examples",
        "--keep-going",
        "--message-format=short",
        "--color=never",
    ]);
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let mut found: BTreeMap<String, Errors> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        if let Some((name, error)) = error_of(line) {
            found.entry(name).or_default().push(error);
        }
    }
    Ok(found)
}

/// Returns `true` if there is one error, and it is the marked one.
fn is_the_marked_one(expected: &Errors, found: &Errors) -> bool {
    match (expected.as_slice(), found.as_slice()) {
        ([(at, text)], [(line, message)]) => at == line && message.contains(text.as_str()),
        _ => false,
    }
}

#[test]
#[ignore = "compiles programs; `./ci.sh rust` runs it"]
fn a_mistake_is_one_error_at_its_line() -> Outcome<()> {
    let folder = scratch("rust-mistakes")?;
    let expected = write_package(&folder)?;
    assert!(expected.len() >= 25, "{} programs", expected.len());
    let found = compile(&folder)?;
    for (name, errors) in &expected {
        let found = found.get(name).cloned().unwrap_or_default();
        assert!(
            is_the_marked_one(errors, &found),
            "{name}: expected {errors:#?}, found {found:#?}"
        );
    }
    Ok(())
}
