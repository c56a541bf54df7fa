//! `ferrite stubs`: declarations for Python, C and Rust, compared with `golden/stubs/`; those of C
//! and Rust are compiled and called.

mod support;

use ferrite::{ObjectClass, Result, Tensor};
use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{ferrite, golden_file, kernels};

#[rustfmt::skip]
#[path = "golden/stubs/kernels.rs"]
#[allow(unsafe_code, missing_docs, unreachable_pub)]
mod declared_kernels;
#[rustfmt::skip]
#[path = "golden/stubs/names.rs"]
#[allow(unsafe_code, missing_docs, unreachable_pub)]
mod declared_names;

/// Compiles the library of difficult names, which finds the library's symbols in the program that
/// loads it.
fn names(folder: &str) -> Outcome<PathBuf> {
    let source = root().join("targets/cli/tests/stubs/names.c");
    Cc::shared(scratch(folder)?.join("libnames.so")).strict().source(source).link()
}

/// Helpers at the beginning of headers, and the mark that stands for them in `golden/stubs/`.
const HELPERS: (&str, &str) = (
    include_str!("../src/stubs/c/helpers.h"),
    "/* The helpers: targets/cli/src/stubs/c/helpers.h. */\n",
);

const LANGUAGES: [(&str, &str); 3] = [("--python", "pyi"), ("--c", "h"), ("--rust", "rs")];

#[test]
fn declarations_of_kernels_and_of_difficult_names() -> Outcome<()> {
    for (name, library) in
        [("kernels", kernels("cli-stubs-kernels")?), ("names", names("cli-stubs-names")?)]
    {
        for (option, suffix) in LANGUAGES {
            let text = ferrite(&["stubs", option], &[&library])?.success()?;
            golden_file(&format!("stubs/{name}.{suffix}"), &text.replace(HELPERS.0, HELPERS.1))?;
        }
    }
    Ok(())
}

#[test]
fn a_file_is_written_on_request() -> Outcome<()> {
    let library = kernels("cli-stubs-file")?;
    let file = scratch("cli-stubs-file")?.join("out.pyi");
    let printed =
        ferrite(&["stubs", "--python", "-o", &file.to_string_lossy()], &[&library])?.success()?;
    assert_eq!(printed, "");
    golden_file("stubs/kernels.pyi", &std::fs::read_to_string(file)?)?;
    let message =
        ferrite(&["stubs", "--c", "-o", "no/such/folder/x.h"], &[&library])?.failure(3)?;
    assert!(message.starts_with("error: cannot write no/such/folder/x.h: "), "{message}");
    Ok(())
}

#[test]
fn json_has_all_that_declarations_are_made_of() -> Outcome<()> {
    let printed = ferrite(&["stubs", "--json"], &[&kernels("cli-stubs-json")?])?.success()?;
    let api: serde_json::Value =
        serde_json::from_str(&printed).map_err(|error| error.to_string())?;
    assert_eq!((&api["name"], &api["exported"][1]["name"]), (&"kernels".into(), &"dot".into()));
    assert_eq!(api["exported"][1]["signature"]["result"]["name"], "float");
    Ok(())
}

#[test]
fn a_c_program_calls_through_the_headers() -> Outcome<()> {
    let (folder, library) = (scratch("cli-stubs-client")?, Library::get()?);
    for (name, library) in
        [("kernels", kernels("cli-stubs-client")?), ("names", names("cli-stubs-client")?)]
    {
        let header = folder.join(name).with_extension("h");
        ferrite(&["stubs", "--c", "-o", &header.to_string_lossy()], &[&library])?.success()?;
    }
    let sources = [quickstart_kernels(), root().join("targets/cli/tests/stubs/names.c")];
    let program = sources
        .iter()
        .fold(Cc::program(folder.join("client")).strict(), |cc, source| cc.source(source))
        .source(root().join("targets/cli/tests/stubs/client.c"))
        .headers(folder.clone())
        .link_shared(library)?;
    let printed = output_of(&mut Command::new(program))?;
    let expected = "dot: 25\nadd_one: 4 5\nadd_one: ValueError: add_one: expected vectors of the same length\nclass: 7\n\
        int: -2\nsuper: 1\nload: a String\nplain: 1\nedge.int: 1\nfirst: TypeError: the object is of another class\n";
    assert_eq!(printed, expected);
    Ok(())
}

fn quickstart_kernels() -> PathBuf {
    ferrite_tests::quickstart().join("kernels.c")
}

#[test]
fn a_rust_program_calls_through_the_module() -> Outcome<()> {
    let path = |file: &Path| file.to_string_lossy().into_owned();
    call_kernels(&path(&kernels("cli-stubs-rust")?)).map_err(|error| error.to_string())?;
    call_names(&path(&names("cli-stubs-rust-names")?)).map_err(|error| error.to_string())?;
    Ok(())
}

fn call_kernels(file: &str) -> Result<()> {
    let library = declared_kernels::Library::load(file)?;
    let (x, y) =
        (Tensor::from_slice(&[1.0f32, 2.0], &[2])?, Tensor::from_slice(&[3.0f32, 4.0], &[2])?);
    assert_eq!(library.dot(&x, &y)?, 11.0);
    library.add_one(&x, &y)?;
    assert_eq!(library.dot(&x, &y)?, 8.0);
    Ok(())
}

fn call_names(file: &str) -> Result<()> {
    use declared_names::{Library, edge};
    assert!(edge::int(1).is_err_and(|error| error.kind().as_str() == "ValueError"));
    let library = Library::load(file)?;
    assert_eq!((library.class()?, library.int(-2.5)?, library.super_(true)?), (7, -2, true));
    assert_eq!(library.load_2("x")?, "a text that is no small one");
    assert_eq!(library.plain(&[1.into(), 2.into()])?.get::<i64>()?, 2);
    assert_eq!(edge::int(1)?, 1);
    // It returns a number, and its metadata says None.
    assert!(edge::r#in::deep().is_err_and(|error| error.kind().as_str() == "TypeError"));
    let refused = ferrite::Shape::from_slice(&[1])?.into_object().downcast::<edge::Pair>();
    assert!(refused.is_err());
    Ok(())
}

#[test]
fn what_cannot_be_declared_is_refused() -> Outcome<()> {
    let folder = scratch("cli-stubs-refused")?;
    let model = std::fs::read(root().join("tests/programs/relax/models/mlp/bytecode.so"))?;
    let library = folder.join("library.so");
    let refused = |bytes: &[u8], status: i32| {
        std::fs::write(&library, bytes)?;
        ferrite(&["stubs", "--python"], &[&library])?.failure(status)
    };
    let message = refused(&model[..model.len() / 2], 3)?;
    assert!(
        message.starts_with("error: library.so is not a library, or is truncated: "),
        "{message}"
    );
    let mut other = model.clone();
    // The field e_machine of the header.
    other[18..20].copy_from_slice(&243u16.to_le_bytes());
    let message = refused(&other, 3)?;
    assert!(
        message.contains("is a shared library in ELF for riscv64, and it must be loaded"),
        "{message}"
    );
    let unresolved = Cc::shared(folder.join("unresolved.so")).strict();
    let source = folder.join("unresolved.c");
    std::fs::write(
        &source,
        "int missing(void);\nint __tvm_ffi_x(void);\nint __tvm_ffi_x(void) { return missing(); }\n",
    )?;
    let unresolved = unresolved.args(["-Wl,-z,now"]).source(source).link()?;
    let message = ferrite(&["stubs", "--c"], &[&unresolved])?.failure(6)?;
    assert!(message.contains("undefined symbol: missing"), "{message}");
    let crash = folder.join("crash.c");
    let text =
        "#include <stdlib.h>\nstatic void __attribute__((constructor)) end(void) { abort(); }\n";
    std::fs::write(&crash, text)?;
    let crash = Cc::shared(folder.join("crash.so")).strict().source(crash).link()?;
    let message = ferrite(&["stubs", "--rust"], &[&crash])?.failure(5)?;
    assert!(
        message.starts_with("error: loading crash.so ended the child process: signal: 6"),
        "{message}"
    );
    ferrite(&["stubs", "--python", "no/such/library.so"], &[])?.failure(3)?;
    ferrite(&["stubs", "kernels.so"], &[])?.failure(2)?;
    ferrite(&["stubs", "--python", "--c", "kernels.so"], &[])?.failure(2)?;
    Ok(())
}

#[test]
fn packages_need_python_and_the_package() -> Outcome<()> {
    let run = |python: &str, package: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
        let output = command.args(["stubs", "--python", package]).env("PYTHON", python).output()?;
        Outcome::Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    let (status, message) = run("no-such-python", "demo")?;
    assert_eq!(status, Some(4));
    assert!(message.starts_with("error: cannot start a child process: "), "{message}");
    Ok(())
}
