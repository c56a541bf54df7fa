//! Runs the commands of the quick start, as a new user does.
#![forbid(unsafe_code)]

use ferrite_tests::{Cc, Library, Outcome, aot, output_of, quickstart, root, scratch};
use std::path::Path;
use std::process::Command;

fn cargo_run() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["run", "--release", "--quiet"]).current_dir(root());
    command
}

fn program(folder: &Path, library: &Library) -> Outcome<Command> {
    let cc = Cc::program(folder.join("quickstart")).strict().system_headers(aot());
    let sources = ["main.c", "digits.c", "signature.c", "ferrite_util.c"];
    let cc = sources.iter().fold(cc, |cc, name| cc.source(quickstart().join(name)));
    Ok(Command::new(cc.link_shared(library)?))
}

#[test]
fn one_command_classifies_every_picture() -> Outcome<()> {
    let printed = output_of(&mut cargo_run())?;
    assert!(
        printed.starts_with("The quick start takes about a minute the first time"),
        "{printed}"
    );
    assert_eq!(printed.matches(", is ").count(), 4, "{printed}");
    assert_eq!(printed.matches("20 of 20 right").count(), 2, "{printed}");
    assert!(
        printed.contains("add_one        1.00   1.50   2.00   2.50   3.00   3.50"),
        "{printed}"
    );
    assert!(printed.contains("TypeError: add_one: expected elements of type float32"), "{printed}");
    assert!(printed.contains("ValueError: Invalid x.shape[2] on argument #0"), "{printed}");
    assert!(printed.contains("  dot(0: DLTensor*, 1: DLTensor*) -> float\n"), "{printed}");
    assert!(!printed.contains(['{', '\\']), "raw JSON: {printed}");
    let (_, commands) = printed.split_once("\nGo on with:\n").unwrap_or_default();
    assert_eq!(commands.matches("  cargo run --release -").count(), 2, "{printed}");
    Ok(())
}

/// Metadata of functions, and their types as the quick start prints them.
const TYPES: [(&str, &str); 7] = [
    (
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"ffi.Array\",\"args\":[{\"type\":\"int\"}]}],\"params\":[{\"type\":\"ffi.Map\",\"args\":[{\"type\":\"ffi.String\"},{\"type\":\"float\"}]}]}}"}"#,
        "(0: Map<ffi.String, float>) -> Array<int>",
    ),
    (
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"None\"},{\"type\":\"int\"}]}"}"#,
        "(0: int) -> None",
    ),
    (
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"float\"},{\"type\":\"int\"}]}","signature":"f(x: int,\n  by = 2)"}"#,
        "(x: int, by = 2) -> float",
    ),
    (r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{}}"}"#, "()"),
    (r#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#, ""),
    (r#"{"type_schema":5,"signature":[]}"#, ""),
    ("", ""),
];

#[test]
fn types_of_functions_are_readable() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("quickstart-types")?);
    let source = folder.join("types.c");
    let program = "#include <string.h>\n#include <stdio.h>\n#include \"signature.h\"\n\
        int main(int n, char** args) {\n  TVMFFIByteArray text;\n  text.data = args[n - 1];\n  text.size = strlen(text.data);\n  \
        signature_print(&text);\n  return 0;\n}\n";
    std::fs::write(&source, program)?;
    let cc = Cc::program(folder.join("types")).strict().headers(quickstart()).source(source);
    let cc = ["signature.c", "ferrite_util.c"]
        .iter()
        .fold(cc, |cc, name| cc.source(quickstart().join(name)));
    let program = cc.link_shared(library)?;
    for (metadata, expected) in TYPES {
        assert_eq!(output_of(Command::new(&program).arg(metadata))?, expected, "{metadata}");
    }
    Ok(())
}

#[test]
fn a_missing_compiler_is_named() -> Outcome<()> {
    let output = cargo_run().env("CC", "no-such-compiler").output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("cannot run the C compiler `no-such-compiler`"), "{message}");
    Ok(())
}

#[test]
fn the_c_program_names_a_missing_library() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("quickstart-missing")?);
    let arguments = ["missing.so", "missing.so", "missing.so"];
    let output = program(&folder, library)?.args(arguments).output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.starts_with("error: missing.so\n"), "{message}");
    assert!(message.contains("Error: "), "the kind of the error: {message}");
    Ok(())
}

#[test]
fn the_c_program_explains_its_arguments() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("quickstart-usage")?);
    let output = program(&folder, library)?.output()?;
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "));
    Ok(())
}

/// Returns the first C code block of the README.
fn readme_example() -> Outcome<String> {
    let page = std::fs::read_to_string(quickstart().join("README.md"))?;
    let block = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    Ok(block.ok_or("the page has no C block".to_string())?.to_string())
}

#[test]
fn the_example_on_the_page_compiles_and_runs() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("quickstart-page")?);
    let source = folder.join("example.c");
    std::fs::write(&source, readme_example()?)?;
    let kernels = Cc::shared(folder.join("kernels.so")).strict();
    kernels.source(quickstart().join("kernels.c")).link_shared(library)?;
    let example = Cc::program(folder.join("example")).strict().headers(quickstart()).source(source);
    let example = example.source(quickstart().join("ferrite_util.c")).link_shared(library)?;
    output_of(Command::new(example).current_dir(folder))?;
    Ok(())
}
