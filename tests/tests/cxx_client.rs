//! Runs the C++ programs of `tests/conformance/cxx`, built with upstream's unmodified headers and
//! linked with this library: by two compilers, with and without run-time type information, under
//! sanitizers and under valgrind.
//!
//! Ignored, since they need upstream's headers, g++ and clang++: `./ci.sh cpp` runs them.
//! `CHECK_GOOD_INPUT_ONLY=1 FERRITE_LIBRARY_DIR=...` runs the same programs with upstream's
//! library.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Library, Outcome, output_of, require, root, scratch, valgrind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A compiler with its options.
struct Build {
    name: &'static str,
    compiler: &'static str,
    package: &'static str,
    flags: &'static [&'static str],
}

const GCC: Build = Build { name: "gcc", compiler: "g++", package: "g++", flags: &[] };
const CLANG: Build = Build { name: "clang", compiler: "clang++", package: "clang", flags: &[] };
// Exceptions still have type information.
const GCC_NO_RTTI: Build = Build { name: "gcc_no_rtti", flags: &["-fno-rtti"], ..GCC };
const CLANG_NO_RTTI: Build = Build { name: "clang_no_rtti", flags: &["-fno-rtti"], ..CLANG };
const SANITIZED: Build = Build {
    name: "sanitized",
    flags: &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ..GCC
};

/// Files that this test program has built or is building.
static BUILT: Mutex<BTreeMap<PathBuf, Building>> = Mutex::new(BTreeMap::new());
type Building = Arc<OnceLock<Outcome<()>>>;

fn upstream_headers() -> Outcome<PathBuf> {
    let wheel = output_of(&mut Command::new(root().join("tests/conformance/upstream/wheel.sh")))?;
    Ok(Path::new(wheel.trim()).join("tvm_ffi/include"))
}

/// Compiles one source of `tests/conformance/cxx`, once.
fn built(build: &Build, source: &str, target: &str, flags: &[&str]) -> Outcome<PathBuf> {
    let target = scratch(&format!("cxx_client/{}", build.name))?.join(target);
    let file = BUILT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(target.clone())
        .or_default()
        .clone();
    file.get_or_init(|| compile(build, source, &target, flags)).clone()?;
    Ok(target)
}

/// Compiles a source file, which must not give warnings.
fn compile(build: &Build, source: &str, target: &Path, flags: &[&str]) -> Outcome<()> {
    let library = Library::with_cxx()?;
    require(build.compiler, build.package)?;
    let mut compiler = Command::new(build.compiler);
    // The valgrind of older systems needs DWARF 4.
    compiler.args([
        "-std=c++17",
        "-O1",
        "-gdwarf-4",
        "-fPIC",
        "-pthread",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]);
    // Unused parameters and constants of upstream's macros and class declarations.
    compiler.args(["-Wno-unused-parameter", "-Wno-unused-const-variable"]);
    compiler.args(build.flags).args(flags).arg("-isystem").arg(upstream_headers()?);
    compiler.arg(root().join("tests/conformance/cxx").join(source)).arg("-o").arg(target);
    compiler.arg("-L").arg(library.folder()).args(["-ltvm_ffi", "-ldl"]);
    compiler.arg(format!("-Wl,-rpath,{},--disable-new-dtags", library.folder().display()));
    output_of(&mut compiler)?;
    Ok(())
}

/// Sets the environment variables that name the libraries loaded by the programs: a library, a copy
/// of it, and one with embedded modules.
fn with_plugins(command: &mut Command, build: &Build) -> Outcome<()> {
    // Without this flag of g++, the library is never unloaded.
    let flags: &[&str] =
        if build.compiler == "g++" { &["-shared", "-fno-gnu-unique"] } else { &["-shared"] };
    command.env("CHECK_PLUGIN", built(build, "plugin.cc", "plugin.so", flags)?);
    command.env("CHECK_PLUGIN_COPY", built(build, "plugin.cc", "plugin_copy.so", flags)?);
    let flags = [flags, &["-DWITH_LIBRARY_BIN"]].concat();
    command.env("CHECK_PLUGIN_BIN", built(build, "plugin.cc", "plugin_bin.so", &flags)?);
    Ok(())
}

/// Runs a program, by itself or under another command such as valgrind.
fn run(program: &str, build: &Build, under: Option<Command>) -> Outcome<()> {
    let executable = built(build, &format!("{program}.cc"), program, &[])?;
    let (how, divisor) = match (&under, build.name) {
        (Some(_), _) => ("under", "200"),
        (None, "sanitized") => ("alone", "20"),
        (None, _) => ("alone", "1"),
    };
    let mut command = under.unwrap_or(Command::new("env"));
    command.arg(&executable);
    let source =
        std::fs::read_to_string(root().join(format!("tests/conformance/cxx/{program}.cc")))?;
    if source.contains("CHECK_PLUGIN") {
        with_plugins(&mut command, build)?;
    }
    command.env("CHECK_SCRATCH", scratch(&format!("cxx_client/{}-{how}/{program}", build.name))?);
    // Divides the stress tests: a second becomes minutes under valgrind.
    command.env("CHECK_STRESS_DIVISOR", divisor);
    command.env("CHECK_CC", std::env::var_os("CC").unwrap_or("cc".into()));
    // As in upstream, a List keeps its deleter when C++ code passes it a block of `operator new`.
    command.env("ASAN_OPTIONS", "detect_leaks=1:alloc_dealloc_mismatch=0");
    print!("{}", output_of(&mut command)?);
    Ok(())
}

fn under_valgrind() -> Outcome<Command> {
    // Permanent objects are "possibly lost" to valgrind: references to them point past the block's
    // beginning.
    let mut command = valgrind("definite,indirect")?;
    command.arg("--show-mismatched-frees=no");
    Ok(command)
}

macro_rules! programs {
    ($($program:ident),* $(,)?) => {
        const PROGRAMS: &[&str] = &[$(stringify!($program)),*];
        programs!(@each [gcc GCC None, clang CLANG None, gcc_no_rtti GCC_NO_RTTI None,
            clang_no_rtti CLANG_NO_RTTI None, sanitized SANITIZED None, valgrind GCC Some(super::under_valgrind()?)]
            [$($program)*]);
    };
    (@each [$($module:ident $build:ident $under:expr),*] $programs:tt) => {
        $(programs!(@module $module $build $under; $programs);)*
    };
    (@module $module:ident $build:ident $under:expr; [$($program:ident)*]) => {
        mod $module {
            $(#[test]
            #[ignore = "needs upstream's headers and C++ compilers: ./ci.sh cpp"]
            fn $program() -> ferrite_tests::Outcome<()> {
                super::run(stringify!($program), &super::$build, $under)
            })*
        }
    };
}

programs!(callbacks, containers, hooks_plain, hooks_value, modules, throws, unload, values);

#[test]
fn every_program() -> Outcome<()> {
    for entry in std::fs::read_dir(root().join("tests/conformance/cxx"))? {
        let path = entry?.path();
        let program = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_program =
            path.extension().is_some_and(|extension| extension == "cc") && program != "plugin";
        if is_program && !PROGRAMS.contains(&program.as_str()) {
            return Err(format!("tests/conformance/cxx/{program}.cc is run by no test").into());
        }
    }
    Ok(())
}
