//! `cargo run --release -- gpu`: builds the library with device support, compiles a network for
//! each kind of device, and runs it on each kind that is found.

use crate::cargo;
use crate::cc::{self, Compiler};
use crate::kinds::{self, Kind};
use crate::layout::Layout;
use crate::step::{Outcome, step};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit status of the C program if it finds no device of the requested kind.
const NO_DEVICE: i32 = 3;

const STEPS: u32 = 3;

/// Runs all steps for the named kinds of devices, or for the default ones if no name is given.
pub fn run(names: &[String]) -> Outcome<()> {
    let kinds = chosen(names)?;
    let layout = Layout::find()?.within("gpu");
    let cc = Compiler::find(&layout)?;
    let features: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    step(1, STEPS, &format!("building libtvm_ffi for {}", features.join(", ")));
    cargo::build_library(&layout, &features.join(","))?;
    step(2, STEPS, "compiling the network for each kind, and the C program");
    let program = build_program(&layout, &cc)?;
    let libraries =
        kinds.iter().map(|kind| build_network(&layout, &cc, kind)).collect::<Outcome<Vec<_>>>()?;
    step(3, STEPS, "running it on every device");
    let mut found = 0;
    let mut failures = Vec::new();
    for (kind, library) in kinds.iter().zip(&libraries) {
        match run_on(kind, &program, library, &cc) {
            Ok(has_device) => found += u32::from(has_device),
            Err(message) => failures.push(message),
        }
    }
    match (found, failures.as_slice()) {
        (0, []) => Err("no device was found: install a driver, as told above".into()),
        (_, []) => Ok(()),
        (_, failures) => Err(failures.join("\n")),
    }
}

fn chosen(names: &[String]) -> Outcome<Vec<&'static Kind>> {
    let defaults = kinds::DEFAULT.iter().copied();
    let named = names.iter().map(String::as_str);
    let names: Vec<_> = if names.is_empty() { defaults.collect() } else { named.collect() };
    let kind_of = |name: &&str| {
        let known: Vec<_> = kinds::KINDS.iter().map(|kind| kind.name).collect();
        kinds::find(name)
            .ok_or(format!("no kind of device `{name}`: there are {}", known.join(", ")))
    };
    names.iter().map(kind_of).collect()
}

fn build_program(layout: &Layout, cc: &Compiler) -> Outcome<PathBuf> {
    cc.program(
        "gpu",
        &["gpu/gpu.c", "ferrite_device.c", "ferrite_util.c"].map(|name| layout.quickstart(name)),
    )
}

/// Compiles the network's host code with the embedded kernels for one kind of device, like TVM's
/// `export_library`.
fn build_network(layout: &Layout, cc: &Compiler, kind: &Kind) -> Outcome<PathBuf> {
    let kernels = layout.quickstart("gpu").join(format!("{}.bin", kind.name));
    let embedded = layout.output()?.join(format!("{}_kernels.c", kind.name));
    embed(&kernels, &embedded)?;
    let defines =
        [format!("-DDEVICE_TYPE={}", kind.device_type), format!("-DDEVICE_NAME=\"{}\"", kind.name)];
    let sources = [layout.quickstart("gpu/digits.c"), embedded];
    cc.library(&format!("digits_{}", kind.name), &sources, cc::GENERATED, &defines)
}

/// Converts a file to C source: the array in which module loaders expect embedded modules.
fn embed(bytes: &Path, source: &Path) -> Outcome<()> {
    let content = std::fs::read(bytes)
        .map_err(|error| format!("cannot read {}: {error}", bytes.display()))?;
    let mut text = format!("const unsigned char __tvm_ffi__library_bin[{}] = {{\n", content.len());
    for line in content.chunks(24) {
        for byte in line {
            let _ = write!(text, "{byte},");
        }
        text.push('\n');
    }
    text.push_str("};\n");
    std::fs::write(source, text)
        .map_err(|error| format!("cannot write {}: {error}", source.display()))
}

/// Runs the program on one kind of device. Returns `false` if there is no such device.
fn run_on(kind: &Kind, program: &Path, library: &Path, cc: &Compiler) -> Outcome<bool> {
    println!("\n{}{}", kind.name, choice(kind));
    let mut command = Command::new(program);
    command.arg(kind.device_type.to_string()).arg(library);
    cc.prefer_library(&mut command);
    let status =
        command.status().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(NO_DEVICE) => {
            println!("  to have one: {}", kind.install);
            Ok(false)
        }
        _ => Err(format!("the network did not run as it should on {}: {status}", kind.name)),
    }
}

/// Describes the environment variable that selects the device, with its value if it is set.
fn choice(kind: &Kind) -> String {
    match std::env::var_os(kind.variable) {
        _ if kind.variable.is_empty() => String::new(),
        Some(value) => {
            format!(" ({}={}, which chooses {})", kind.variable, value.display(), kind.choice)
        }
        None => format!(" ({} chooses {})", kind.variable, kind.choice),
    }
}
