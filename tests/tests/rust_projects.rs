//! Projects of Rust users, outside the checkout and in workspaces of their own, built by cargo
//! without options.
#![forbid(unsafe_code)]

use ferrite_tests::{Library, Outcome, output_of, quickstart, root, scratch};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns a cargo command in a folder, as a user types it: no options or folders of this build are
/// in its environment.
fn cargo(folder: &Path, target: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "LD_LIBRARY_PATH", "TVM_FFI_LIB_DIR"] {
        command.env_remove(variable);
    }
    command
}

/// Returns the file of a dynamic library in a folder.
fn library_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}

/// Builds the kernels of the quick start. Returns their library.
fn kernels() -> Outcome<PathBuf> {
    let target = scratch("rust-kernels")?;
    output_of(cargo(&quickstart().join("rust_kernels"), &target).args([
        "build",
        "--quiet",
        "--locked",
        "--release",
    ]))?;
    Ok(library_in(&target.join("release"), "rust_kernels"))
}

/// A project outside the checkout, removed when it is dropped.
struct Project {
    folder: PathBuf,
}

impl Project {
    /// Writes a project with one dependency, and with this program.
    fn new(name: &str, dependency: &str, program: &str) -> Outcome<Project> {
        let folder = env::temp_dir().join(format!("ferrite-{name}-{}", std::process::id()));
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n"
        );
        let written = fs::create_dir_all(folder.join("src"))
            .and_then(|()| fs::write(folder.join("Cargo.toml"), manifest))
            .and_then(|()| fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")))
            .and_then(|_| fs::write(folder.join("src/main.rs"), program));
        written.map_err(|error| format!("cannot write {}: {error}", folder.display()))?;
        Ok(Project { folder })
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The first program of a new user: loads kernels, calls them, and prints their TypeError.
const FIRST_CALL: &str = include_str!("../programs/rust/first_call.rs");

/// Returns the line by which a project depends on this package of the checkout.
fn dependency(package: &str) -> String {
    let path = root().join("targets/rust").join(if package.ends_with("sys") { "sys" } else { "" });
    format!("{package} = {{ path = {path:?} }}")
}

/// Runs the first program with this dependency. Returns a command that runs the program without
/// cargo, too.
fn first_call(name: &str, package: &str, prepare: impl FnOnce(&mut Command)) -> Outcome<PathBuf> {
    let (project, target) =
        (Project::new(name, &dependency(package), FIRST_CALL)?, scratch("rust-projects")?);
    let mut command = cargo(&project.folder, &target);
    prepare(&mut command);
    check(&output_of(command.args(["run", "--quiet", "--"]).arg(kernels()?))?);
    Ok(target.join("debug").join(name))
}

fn check(printed: &str) {
    let (product, error) = printed.split_once('\n').unwrap_or_default();
    assert_eq!(product, "11", "{printed}");
    let expected = "TypeError: Mismatched type on argument #0 when calling: `rust_dot(0: DLTensor*, 1: DLTensor*) -> float`. \
                    Expected `DLTensor*` but got `int`\n";
    assert_eq!(error, expected);
}

#[test]
fn the_first_program_is_short() {
    assert!(FIRST_CALL.lines().count() <= 15);
}

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn a_program_with_the_library_inside_loads_kernels() -> Outcome<()> {
    let program = first_call("inside", "ferrite-ffi", |_| ())?;
    check(&output_of(Command::new(program).arg(kernels()?).env_remove("LD_LIBRARY_PATH"))?);
    Ok(())
}

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn a_program_beside_a_library_loads_kernels() -> Outcome<()> {
    let library = Library::get()?.folder();
    // The build script finds the library of a checkout by itself, unless something else is
    // installed.
    let program = first_call("beside", "ferrite-ffi-sys", |command| {
        command.env("TVM_FFI_LIB_DIR", library);
    })?;
    check(&output_of(Command::new(program).arg(kernels()?).env("LD_LIBRARY_PATH", library))?);
    Ok(())
}

/// A program that calls builtins in a build without all of them.
const LINKED_BUILTINS: &str = include_str!("../programs/rust/linked_builtins.rs");

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn builtins_that_are_linked_alone_borrow_what_they_use() -> Outcome<()> {
    let of = |name: &str, folder: &str| {
        format!("{name} = {{ path = {:?}, default-features = false }}", root().join(folder))
    };
    let dependencies =
        [of("ferrite-ffi-core", "core"), of("ferrite-ffi-relax", "targets/relax")].join("\n");
    let project = Project::new("linked-builtins", &dependencies, LINKED_BUILTINS)?;
    let mut command = cargo(&project.folder, &scratch("rust-projects")?);
    let printed = output_of(command.args(["run", "--quiet"]))?;
    assert_eq!(
        printed,
        "read: false true true\nwritten: false false false\nfree: true true true\n"
    );
    Ok(())
}

/// A program on the modules that both packages have, and its output.
const VALUES: [&str; 2] =
    [include_str!("../programs/rust/values.rs"), include_str!("../programs/rust/values.txt")];

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn the_same_source_has_the_library_inside_or_beside_it() -> Outcome<()> {
    let [program, printed] = VALUES;
    let library = Library::get()?.folder();
    for package in ["ferrite-ffi", "ferrite-ffi-sys"] {
        let project = Project::new(&format!("values-{package}"), &dependency(package), program)?;
        let mut command = cargo(&project.folder, &scratch("rust-projects")?);
        command.args(["run", "--quiet"]);
        if package.ends_with("sys") {
            command.env("TVM_FFI_LIB_DIR", library).env("LD_LIBRARY_PATH", library);
        }
        assert_eq!(output_of(&mut command)?, printed, "{package}");
    }
    Ok(())
}

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn the_example_of_programs_beside_a_library_runs() -> Outcome<()> {
    let library = Library::get()?.folder();
    let mut command = cargo(&root().join("targets/rust/sys"), &scratch("rust-projects")?);
    command.args(["run", "--quiet", "--locked", "--example", "beside"]);
    let printed =
        output_of(command.env("TVM_FFI_LIB_DIR", library).env("LD_LIBRARY_PATH", library))?;
    assert_eq!(printed, "2 numbers, the sum is 4\n");
    Ok(())
}

/// The first program of a Rust developer who has read nothing but the names of the types.
const FIRST_TRY: &str = include_str!("../programs/rust/first_try.rs");

/// The output of [`FIRST_TRY`]. The order of the entries of a Map made from a HashMap is random.
const FIRST_TRY_PRINTS: [&str; 7] = [
    "a 1",
    "b (1, 2, 3)",
    "[3.0, 6.0]",
    "ValueError: invalid digit found in string",
    "11",
    "hello world [1, 2, 3] [1, 2, 3] {\"a\": 1, \"b\": (1, 2, 3)}",
    "hello world [1, 2, 3] [1, 2, 3] {\"b\": (1, 2, 3), \"a\": 1}",
];

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn types_of_rust_are_arguments_results_and_elements() -> Outcome<()> {
    let kernels = library_in(&workspace()?, "workspace_kernels");
    let dependency = format!(
        "ferrite_ffi = {{ package = \"ferrite-ffi\", path = {:?} }}",
        root().join("targets/rust")
    );
    let (project, target) =
        (Project::new("first-try", &dependency, FIRST_TRY)?, scratch("rust-projects")?);
    let name = library_in(&project.folder, "rust_kernels");
    fs::copy(&kernels, &name)
        .map_err(|error| format!("cannot copy {}: {error}", kernels.display()))?;
    let printed = output_of(
        cargo(&project.folder, &target)
            .args(["run", "--quiet"])
            .env("LD_LIBRARY_PATH", &project.folder),
    )?;
    for line in printed.lines() {
        assert!(FIRST_TRY_PRINTS.contains(&line), "{line}");
    }
    assert_eq!(printed.lines().count(), 6, "{printed}");
    Ok(())
}

/// Builds the workspace. Returns the folder of what was built.
fn workspace() -> Outcome<PathBuf> {
    let (folder, target) =
        (root().join("tests/programs/rust/workspace"), scratch("rust-workspace")?);
    output_of(cargo(&folder, &target).args(["build", "--quiet", "--locked", "--workspace"]))?;
    Ok(target.join("debug"))
}

#[test]
#[ignore = "builds projects; `./ci.sh rust` runs it"]
fn programs_kernels_and_firmware_share_a_workspace() -> Outcome<()> {
    let (folder, target) =
        (root().join("tests/programs/rust/workspace"), scratch("rust-workspace")?);
    let built = workspace()?;
    let kernels = library_in(&built, "workspace_kernels");
    let printed = output_of(Command::new(built.join("workspace-program")).arg(kernels))?;
    assert_eq!(printed, "a Some(6)\nb Some(0)\n");
    assert_eq!(output_of(&mut Command::new(built.join("workspace-firmware")))?, "7\n");
    let board = [
        "build",
        "--quiet",
        "--locked",
        "-p",
        "workspace-firmware",
        "--target",
        "thumbv7em-none-eabihf",
    ];
    output_of(cargo(&folder, &target).args(board))?;
    assert!(target.join("thumbv7em-none-eabihf/debug/workspace-firmware").exists());
    Ok(())
}
