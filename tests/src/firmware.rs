//! Profiles of the library for a Cortex-M4F: archives, firmware that keeps selected symbols, and
//! sizes.

use crate::{Outcome, output_of, root, scratch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CORTEX_M4F: &str = "thumbv7em-none-eabihf";

/// Size in bytes of the library's pool for objects and names, which all measured sizes exclude.
const POOL_BYTES: u64 = 8192;

/// Functions to which compilers emit calls. They come from the C library, since the archive's
/// versions are larger.
const MEMORY: [&str; 17] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "__aeabi_memcpy",
    "__aeabi_memcpy4",
    "__aeabi_memcpy8",
    "__aeabi_memmove",
    "__aeabi_memmove4",
    "__aeabi_memmove8",
    "__aeabi_memset",
    "__aeabi_memset4",
    "__aeabi_memset8",
    "__aeabi_memclr",
    "__aeabi_memclr4",
    "__aeabi_memclr8",
];

/// The library, built with selected features.
pub struct Profile {
    name: &'static str,
    archive: PathBuf,
}

/// Size of a firmware in bytes.
pub struct FirmwareSize {
    /// Flash: text, constants and initial values.
    pub flash: u64,
    /// RAM without the stack.
    pub ram: u64,
}

impl Profile {
    /// Builds the archive in a folder with this name.
    ///
    /// # Errors
    /// If it does not build.
    pub fn build(name: &'static str, features: &str) -> Outcome<Profile> {
        let folder = scratch("firmware")?.join(name);
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args([
            "rustc",
            "--profile",
            "mcu",
            "--package",
            "ferrite-ffi-capi",
            "--crate-type",
            "staticlib",
        ]);
        command.args(["--no-default-features", "--features", features, "--target", CORTEX_M4F]);
        command
            .arg("--manifest-path")
            .arg(root().join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&folder);
        command.env("FERRITE_POOL_BYTES", POOL_BYTES.to_string());
        output_of(&mut command)?;
        Ok(Profile { name, archive: folder.join(CORTEX_M4F).join("mcu/libtvm_ffi.a") })
    }

    /// Returns the symbols of the C ABI.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn symbols(&self) -> Outcome<Vec<String>> {
        let list = output_of(
            Command::new("arm-none-eabi-nm").args(["-g", "--defined-only"]).arg(&self.archive),
        )?;
        let names =
            list.lines().filter_map(|line| line.rsplit_once(' ')).map(|(_, name)| name.to_owned());
        let mut names: Vec<_> = names.filter(|name| name.starts_with("TVM")).collect();
        names.sort();
        Ok(names)
    }

    /// Links a firmware that keeps every symbol. Returns its path, and its size without the pool
    /// and without the size of a firmware that contains only the C library's memory functions.
    ///
    /// # Errors
    /// If a firmware does not link.
    pub fn every_symbol(&self) -> Outcome<(PathBuf, FirmwareSize)> {
        let memory = MEMORY.map(str::to_owned).to_vec();
        let without = size(&link("empty.c", "without.elf", &memory, None)?)?;
        let kept = [memory, self.symbols()?].concat();
        let firmware = link("empty.c", &format!("{}.elf", self.name), &kept, Some(&self.archive))?;
        let with = size(&firmware)?;
        let added = FirmwareSize {
            flash: with.flash - without.flash,
            ram: with.ram - without.ram - POOL_BYTES,
        };
        Ok((firmware, added))
    }

    /// Links a firmware from one C file, with the memory functions of the archive. Returns its
    /// size.
    ///
    /// # Errors
    /// If the firmware does not link.
    pub fn program(&self, source: &str) -> Outcome<FirmwareSize> {
        size(&link(source, &format!("{}-program.elf", self.name), &[], Some(&self.archive))?)
    }
}

/// Links a firmware from one C file. Returns its path.
fn link(source: &str, output: &str, keep: &[String], archive: Option<&Path>) -> Outcome<PathBuf> {
    let sources = root().join("tests/embedded/firmware");
    let output = scratch("firmware")?.join(output);
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args([
        "-mcpu=cortex-m4",
        "-mthumb",
        "-mfloat-abi=hard",
        "-mfpu=fpv4-sp-d16",
        "--specs=nano.specs",
    ]);
    command.args(["-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-nostartfiles"]);
    command.args(["-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--fatal-warnings"]);
    command.arg("-I").arg(root().join("include"));
    command.arg("-T").arg(sources.join("link.ld")).arg(sources.join(source));
    command.args(keep.iter().map(|symbol| format!("-Wl,-u,{symbol}")));
    if !keep.is_empty() {
        // Functions of the C library take precedence over the archive's.
        command.arg("-lc_nano");
    }
    command.args(archive).args(["-lc_nano", "-lgcc", "-o"]).arg(&output);
    output_of(&mut command)?;
    Ok(output)
}

fn size(firmware: &Path) -> Outcome<FirmwareSize> {
    let sizes = output_of(Command::new("arm-none-eabi-size").arg(firmware))?;
    let columns = sizes.lines().nth(1).unwrap_or_default().split_whitespace();
    let mut columns = columns.map_while(|number| number.parse::<u64>().ok());
    let mut column = || columns.next().ok_or("arm-none-eabi-size printed no sizes".to_owned());
    let (text, data, bss) = (column()?, column()?, column()?);
    Ok(FirmwareSize { flash: text + data, ram: data + bss })
}

/// Returns the symbol names in a firmware, one per line.
///
/// # Errors
/// If the firmware cannot be read.
pub fn names(firmware: &Path) -> Outcome<String> {
    output_of(Command::new("arm-none-eabi-nm").arg("--demangle").arg(firmware))
}

/// Returns for each module its size in bytes and its number of functions and constants, largest
/// first. Unnamed strings are excluded.
///
/// # Errors
/// If the firmware cannot be read.
pub fn costs(firmware: &Path) -> Outcome<Vec<(u64, usize, String)>> {
    let list = output_of(
        Command::new("arm-none-eabi-nm")
            .args(["--demangle", "--print-size", "--defined-only"])
            .arg(firmware),
    )?;
    let mut costs: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for line in list.lines() {
        let mut columns = line.splitn(4, ' ').skip(1);
        if let (Some(size), Some(kind), Some(name)) =
            (columns.next(), columns.next(), columns.next())
            && let Ok(bytes) = u64::from_str_radix(size, 16)
            && !kind.eq_ignore_ascii_case("b")
        {
            let cost = costs.entry(module_of(name)).or_default();
            *cost = (cost.0 + bytes, cost.1 + 1);
        }
    }
    let mut costs: Vec<_> =
        costs.into_iter().map(|(module, (bytes, count))| (bytes, count, module)).collect();
    costs.sort_by(|one, other| other.cmp(one));
    Ok(costs)
}

/// Returns the crate and module of a symbol. For a trait method, it is the module of the project's
/// type or trait.
fn module_of(name: &str) -> String {
    if name.starts_with("OUTLINED_FUNCTION") {
        return "shared ends of functions".to_owned();
    }
    let ours = ["ferrite_alloc_ext::", "ferrite_core::", "tvm_ffi::"]
        .iter()
        .find_map(|path| name.find(path));
    let path = ours.map_or(name, |at| &name[at..]);
    let is_word =
        |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let path = path.trim_start_matches(|character| !is_word(character));
    let path = path.split(|character| !is_word(character)).next().unwrap_or(path);
    let parts: Vec<_> = path.split("::").filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [_] => "functions of the C ABI and the C library".to_owned(),
        [one, two, _, ..] => format!("{one}::{two}"),
        parts => parts.first().copied().unwrap_or(name).to_owned(),
    }
}
