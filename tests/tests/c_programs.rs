//! Runs the C programs of `tests/conformance/c` with the built library: plain, under sanitizers,
//! and under valgrind.
//!
//! The latter two are ignored, since they need tools beyond a C compiler: `./ci.sh sanitizers` and
//! `./ci.sh valgrind` run them. `CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=...` runs the same
//! programs with upstream's library.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, include, output_of, program, root, scratch, valgrind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Plain,
    Sanitized,
    Valgrind,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Sanitized => "sanitized",
            Self::Valgrind => "valgrind",
        }
    }

    /// Returns the divisor of the stress tests' durations: a second becomes minutes under valgrind.
    fn stress_divisor(self) -> &'static str {
        match self {
            Self::Plain => "1",
            Self::Sanitized => "20",
            Self::Valgrind => "200",
        }
    }

    fn compiler(self, cc: Cc) -> Cc {
        if self == Self::Sanitized { cc.sanitized() } else { cc }
    }
}

/// Libraries that the module tests load.
struct Kernels {
    plain: PathBuf,
    with_modules: PathBuf,
    /// Library that only depends on a kernel library. Its name begins like that of a system
    /// library.
    needs_kernels: PathBuf,
}

fn kernels(mode: Mode, program: &str) -> Outcome<Kernels> {
    let folder = scratch(&format!("c_programs/{}-{program}", mode.name()))?;
    let source = root().join("tests/conformance/c/kernels.c");
    let plain = Cc::shared(folder.join("kernels.so")).strict().source(&source);
    let with_modules =
        Cc::shared(folder.join("kernels_bin.so")).strict().args(["-DWITH_LIBRARY_BIN"]);
    let needed = Cc::shared(folder.join("libgcc_s.so.1.kernels"))
        .strict()
        .args(["-Wl,-soname,libgcc_s.so.1.kernels"]);
    let needed = mode.compiler(needed.source(&source)).link()?;
    let needs_kernels =
        Cc::shared(folder.join("needs_kernels.so")).args(["-Wl,--no-as-needed,-rpath,$ORIGIN"]);
    Ok(Kernels {
        plain: mode.compiler(plain).link()?,
        with_modules: mode.compiler(with_modules.source(&source)).link()?,
        needs_kernels: mode.compiler(needs_kernels.source(needed)).link()?,
    })
}

fn run(name: &str, mode: Mode) -> Outcome<()> {
    let library = Library::get()?;
    let folder = scratch(&format!("c_programs/{}-{name}", mode.name()))?;
    let kernels = kernels(mode, name)?;
    let executable = mode.compiler(source_of(&folder, name)).link_shared(library)?;
    let mut command = program(&executable);
    if mode == Mode::Valgrind {
        // Permanent objects are "possibly lost" to valgrind: references to them point past the
        // block's beginning.
        command = valgrind("definite,indirect")?;
        command.arg(&executable);
    }
    command.env("CHECK_KERNELS", &kernels.plain).env("CHECK_KERNELS_BIN", &kernels.with_modules);
    command.env("CHECK_NEEDS_KERNELS", &kernels.needs_kernels);
    command.env("CHECK_SYMBOLS", root().join("tests/conformance/exports/symbols.txt"));
    command.env("CHECK_SCRATCH", &folder).env("CHECK_STRESS_DIVISOR", mode.stress_divisor());
    // A library is unloaded with its last function, but its code must be there when a report names
    // it. malloc returns null for sizes that fit no memory.
    command.env("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1");
    print!("{}", output_of(&mut command)?);
    Ok(())
}

/// Returns the compiler of a program, which links only the libraries that it calls.
fn source_of(folder: &Path, name: &str) -> Cc {
    let cc = Cc::program(folder.join(name)).strict().args(["-pthread"]);
    // Not for libatomic and the like of a sanitizer, which come after.
    let cc = if cfg!(target_os = "linux") { cc.args(["-Wl,--as-needed"]) } else { cc };
    cc.source(root().join(format!("tests/conformance/c/{name}.c")))
}

/// With the archive, libm comes when the program loads its first library.
#[test]
fn compiled_code_finds_libm_in_a_program_with_the_archive() -> Outcome<()> {
    let library = Library::get()?;
    if !library.archive().exists() {
        println!("skipped: the library has no archive");
        return Ok(());
    }
    let folder = scratch("c_programs/static-math")?;
    let kernels = kernels(Mode::Plain, "static-math")?;
    let executable =
        source_of(&folder, "math").args(["-Wl,--export-dynamic"]).link_static(library)?;
    print!("{}", output_of(program(&executable).env("CHECK_KERNELS", &kernels.plain))?);
    Ok(())
}

macro_rules! programs {
    ($($program:ident),* $(,)?) => {
        const PROGRAMS: &[&str] = &[$(stringify!($program)),*];

        mod plain {
            $(#[test]
            fn $program() -> ferrite_tests::Outcome<()> {
                super::run(stringify!($program), super::Mode::Plain)
            })*
        }

        mod sanitized {
            $(#[test]
            #[ignore = "needs the sanitizers' libraries: ./ci.sh sanitizers"]
            fn $program() -> ferrite_tests::Outcome<()> {
                super::run(stringify!($program), super::Mode::Sanitized)
            })*
        }

        mod valgrind {
            $(#[test]
            #[ignore = "needs valgrind: ./ci.sh valgrind"]
            fn $program() -> ferrite_tests::Outcome<()> {
                super::run(stringify!($program), super::Mode::Valgrind)
            })*
        }
    };
}

programs!(
    allocator,
    deep_release,
    depth,
    dtype,
    env,
    error,
    function,
    garbage,
    init_once,
    json,
    kernel_helpers,
    error_at_exit,
    borrowed_arguments,
    library_bin,
    math,
    module,
    no_overread,
    object,
    overlap,
    signals,
    string,
    tensor,
    threads,
    type_info,
);

/// Checks that at least one program calls each symbol of the ABI, and that the list above contains
/// every program.
#[test]
fn every_symbol_and_every_program() -> Outcome<()> {
    let mut text = String::new();
    for entry in std::fs::read_dir(root().join("tests/conformance/c"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            let program = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if !PROGRAMS.contains(&program.as_str()) && program != "kernels" {
                return Err(format!("tests/conformance/c/{program}.c is run by no test").into());
            }
            text.push_str(&std::fs::read_to_string(path)?);
        }
    }
    let symbols = std::fs::read_to_string(root().join("tests/conformance/exports/symbols.txt"))?;
    let uncalled: Vec<&str> =
        symbols.lines().filter(|symbol| !text.contains(&format!("{symbol}("))).collect();
    if uncalled.is_empty() { Ok(()) } else { Err(format!("no program calls {uncalled:?}").into()) }
}

/// Checks that the handler of `signals.c` calls exactly the symbols that the header allows in
/// signal handlers.
#[test]
fn signal_handlers_call_what_the_header_allows() -> Outcome<()> {
    let symbols = |text: &str| {
        let words = text.split(|part: char| !part.is_alphanumeric());
        words.filter(|word| word.starts_with("TVMFFI")).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let between = |text: &str, start: &str, end: &str| {
        let found = text.split_once(start).and_then(|(_, rest)| rest.split_once(end));
        found
            .map(|(part, _)| part.to_owned())
            .ok_or_else(|| format!("no part from {start:?} to {end:?}"))
    };
    let header = std::fs::read_to_string(include().join("tvm/ffi/c_api.h"))?;
    let allowed = symbols(&between(&header, "Signal handlers may call", "Any other function")?);
    let program = std::fs::read_to_string(root().join("tests/conformance/c/signals.c"))?;
    let handler = between(&program, "static void handle(", "\n}\n")?;
    let is_call = |symbol: &String| handler.contains(&format!("{symbol}("));
    let called: BTreeSet<_> = symbols(&handler).into_iter().filter(is_call).collect();
    if called == allowed {
        Ok(())
    } else {
        Err(format!("allowed: {allowed:#?}, called: {called:#?}").into())
    }
}
