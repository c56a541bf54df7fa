//! Tests compiled models against numpy's outputs: generated C, LLVM code in a shared library, and
//! LLVM code linked into the program.
#![forbid(unsafe_code)]

use ferrite_tests::{Cc, Library, Outcome, aot, output_of, quickstart, scratch, valgrind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of checks that `run_models` performs for one form of a model. It is fixed, so that a
/// missing check is noticed.
const CHECKS_PER_FORM: usize = 527;
const MODELS: usize = 8;

fn runner(folder: &Path) -> Cc {
    Cc::program(folder.join("run_models"))
        .strict()
        .headers(quickstart())
        .system_headers(aot())
        .source(aot().join("run_models.c"))
        .source(quickstart().join("ferrite_util.c"))
}

fn models_from_c(folder: &Path) -> Cc {
    Cc::shared(folder.join("libmodels_c.so")).generated().source(aot().join("models.c"))
}

fn models_from_llvm(folder: &Path) -> Cc {
    Cc::shared(folder.join("libmodels_llvm.so")).source(aot().join("llvm/models_dyn_x86_64.o"))
}

fn system_object() -> PathBuf {
    aot().join("llvm/models_sys_x86_64.o")
}

/// Runs the command, prints its report, and verifies that it performed the checks for this number
/// of forms.
fn run(command: &mut Command, forms: usize) -> Outcome<()> {
    let report = output_of(command)?;
    print!("{report}");
    let total = format!("total: {} checks, 0 failed", forms * CHECKS_PER_FORM);
    assert!(report.contains(&total), "expected `{total}`");
    assert_eq!(report.lines().filter(|line| line.contains(" calls, ")).count(), forms * MODELS);
    Ok(())
}

/// Compiles the model and the program apart, since only the latter is ANSI C without warnings.
#[test]
fn helpers_for_kernels_have_the_messages_of_compiled_models() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-messages")?);
    let model = Cc::shared(folder.join("libadd_one_dyn.so")).generated();
    let model = model.source(aot().join("add_one_dyn/add_one_dyn.c")).link_shared(library)?;
    let program =
        Cc::program(folder.join("same_messages")).strict().source(aot().join("same_messages.c"));
    let report = output_of(&mut Command::new(program.source(model).link_shared(library)?))?;
    assert!(report.contains("same_messages: 9 compared, 0 differ"), "{report}");
    Ok(())
}

#[test]
fn models_from_c_source_give_the_expected_outputs() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-c")?);
    let models = models_from_c(&folder).link_shared(library)?;
    run(Command::new(runner(&folder).link_shared(library)?).arg(models), 1)
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    ignore = "the LLVM objects are for x86-64 Linux"
)]
fn models_from_llvm_get_their_context_symbols() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-llvm")?);
    let models = models_from_llvm(&folder).link_shared(library)?;
    run(Command::new(runner(&folder).link_shared(library)?).arg(models), 1)
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    ignore = "the LLVM objects are for x86-64 Linux"
)]
fn models_in_a_library_that_the_loaded_one_needs_get_them_too() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-needed")?);
    let models = models_from_llvm(&folder).link_shared(library)?;
    let empty = Cc::shared(folder.join("libempty.so")).args(["-Wl,--no-as-needed"]).source(models);
    run(Command::new(runner(&folder).link_shared(library)?).arg(empty.link_shared(library)?), 1)
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    ignore = "the LLVM objects are for x86-64 Linux"
)]
fn models_in_the_program_are_a_system_library() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-system")?);
    run(
        Command::new(runner(&folder).source(system_object()).link_shared(library)?).arg("system"),
        1,
    )
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    ignore = "the LLVM objects are for x86-64 Linux"
)]
fn models_and_library_link_into_one_static_program() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-static")?);
    run(
        Command::new(runner(&folder).source(system_object()).link_static(library)?).arg("system"),
        1,
    )
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    ignore = "the LLVM objects are for x86-64 Linux"
)]
fn two_libraries_with_the_same_symbols_live_in_one_process() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-both")?);
    let from_c = models_from_c(&folder).link_shared(library)?;
    let from_llvm = models_from_llvm(&folder).link_shared(library)?;
    run(Command::new(runner(&folder).link_shared(library)?).arg(from_c).arg(from_llvm), 2)
}

#[test]
#[ignore = "needs the sanitizers' libraries: ./ci.sh sanitizers"]
fn no_model_touches_memory_that_is_not_its_own() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-sanitized")?);
    let models = models_from_c(&folder).sanitized().link_shared(library)?;
    run(Command::new(runner(&folder).sanitized().link_shared(library)?).arg(models), 1)
}

/// Runs only on x86-64 Linux, for which the LLVM objects are compiled.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[ignore = "needs valgrind: ./ci.sh valgrind"]
fn valgrind_finds_no_error_and_no_leak() -> Outcome<()> {
    let (library, folder) = (Library::get()?, scratch("aot-valgrind")?);
    let from_c = models_from_c(&folder).link_shared(library)?;
    let from_llvm = models_from_llvm(&folder).link_shared(library)?;
    let program = runner(&folder).link_shared(library)?;
    run(valgrind("definite,indirect")?.arg(program).arg(from_c).arg(from_llvm), 2)
}
