//! Checks the interface of the shared object: its symbols, soname, dependencies and size.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Library, Outcome, output_of, require, root, scratch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size of upstream's stripped shared object in bytes.
const UPSTREAM_BYTES: u64 = 2_585_024;

/// Returns the dynamic symbols that a library defines.
fn exported(library: &Path) -> Outcome<BTreeSet<String>> {
    require("nm", "binutils")?;
    let text = output_of(Command::new("nm").args(["-D", "--defined-only"]).arg(library))?;
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    Ok(names.map(str::to_string).collect())
}

fn listed(file: &str) -> Outcome<BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("tests/conformance/exports").join(file))?;
    Ok(text.lines().map(str::to_string).collect())
}

fn expect(found: &BTreeSet<String>, wanted: &BTreeSet<String>) -> Outcome<()> {
    let missing: Vec<_> = wanted.difference(found).collect();
    let extra: Vec<_> = found.difference(wanted).collect();
    println!("{} symbols", found.len());
    if missing.is_empty() && extra.is_empty() {
        Ok(())
    } else {
        Err(format!("missing: {missing:?}\nnot in the list: {extra:?}").into())
    }
}

/// Builds the library with its default features, in a target folder that no other test changes.
fn default_library() -> Outcome<PathBuf> {
    if let Some(folder) = std::env::var_os("FERRITE_DEFAULT_LIBRARY_DIR") {
        return Ok(Path::new(&folder).join("libtvm_ffi.so"));
    }
    let target = scratch("exports-default-features")?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["build", "--release", "--package", "ferrite-ffi-capi", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).arg("--target-dir").arg(&target);
    output_of(&mut command)?;
    Ok(target.join("release/libtvm_ffi.so"))
}

#[test]
fn symbols_with_the_backend() -> Outcome<()> {
    let wanted = &listed("symbols.txt")? | &listed("backend-symbols.txt")?;
    expect(&exported(&Library::get()?.shared())?, &wanted)
}

/// Builds the library with default features in a folder of its own.
#[test]
#[ignore = "builds the library again: ./ci.sh exports"]
fn symbols_by_default() -> Outcome<()> {
    expect(&exported(&default_library()?)?, &listed("symbols.txt")?)
}

/// Checks the third-party crates in the library with its default features.
#[test]
fn crates_in_the_default_build() -> Outcome<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args([
        "tree",
        "--package",
        "ferrite-ffi-capi",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--target",
        "x86_64-unknown-linux-gnu",
        "--manifest-path",
    ]);
    let tree = output_of(command.arg(root().join("Cargo.toml")))?;
    let crates = tree.lines().filter_map(|line| line.split_whitespace().next());
    let of_others: BTreeSet<&str> = crates.filter(|name| !name.starts_with("ferrite-")).collect();
    assert_eq!(
        of_others,
        BTreeSet::from([
            "byteorder",
            "gimli",
            "hash32",
            "heapless",
            "libc",
            "rustc-demangle",
            "stable_deref_trait"
        ])
    );
    Ok(())
}

/// Needs a build with a C++ compiler.
#[test]
#[ignore = "builds the library with C++ symbols: ./ci.sh exports"]
fn symbols_with_cxx() -> Outcome<()> {
    let wanted = &listed("symbols.txt")? | &listed("backend-symbols.txt")?;
    let for_cxx = &listed("cxx-symbols.txt")? | &listed("cxx-symbols-earlier.txt")?;
    let released = &(&for_cxx | &listed("relax-symbols.txt")?) | &listed("rpc-symbols.txt")?;
    expect(&exported(&Library::with_cxx()?.shared())?, &(&wanted | &released))
}

/// Compares the symbol lists with upstream's library. C++ symbols are excluded if they come from
/// headers of the standard library or are local to functions of it.
#[test]
#[ignore = "downloads upstream's library: ./ci.sh exports"]
fn symbols_are_upstreams() -> Outcome<()> {
    let theirs = exported_by_upstream("")?;
    expect(&listed("symbols.txt")?, &chosen(&theirs, |name| name.starts_with("TVM")))?;
    expect(&listed("cxx-symbols.txt")?, &chosen(&theirs, is_for_cxx))
}

/// Checks the list of symbols that earlier releases export and the last release does not.
#[test]
#[ignore = "downloads upstream's libraries: ./ci.sh exports"]
fn symbols_of_earlier_releases() -> Outcome<()> {
    let last = exported_by_upstream("")?;
    let mut earlier = BTreeSet::new();
    for pin in std::fs::read_dir(root().join("tests/conformance/upstream/pins/releases"))? {
        let release = pin?.path().with_extension("");
        let name = release.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        earlier.append(&mut exported_by_upstream(name)?);
    }
    let lost = chosen(&earlier, |name| {
        (name.starts_with("TVM") || is_for_cxx(name)) && !last.contains(name)
    });
    expect(&listed("cxx-symbols-earlier.txt")?, &lost)
}

/// Returns the dynamic symbols of upstream's library in a release.
fn exported_by_upstream(release: &str) -> Outcome<BTreeSet<String>> {
    let mut command = Command::new(root().join("tests/conformance/upstream/wheel.sh"));
    let folder = output_of(command.env("upstream_release", release))?;
    exported(&Path::new(folder.trim()).join("tvm_ffi/lib/libtvm_ffi.so"))
}

fn is_for_cxx(name: &str) -> bool {
    let prefixes = ["_ZN", "_ZTVN", "_ZTIN", "_ZTSN", "_ZZN", "_ZGVZN"];
    prefixes.iter().any(|prefix| name.starts_with(&format!("{prefix}3tvm3ffi")))
        && !name.contains("InternalUnsafe")
}

fn chosen(names: &BTreeSet<String>, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    names.iter().filter(|name| wanted(name)).cloned().collect()
}

/// Returns the values of the entries of one kind in the dynamic section, such as
/// `(NEEDED) ... [libc.so.6]`.
fn dynamic(library: &Path, kind: &str) -> Outcome<BTreeSet<String>> {
    require("readelf", "binutils")?;
    let text = output_of(
        Command::new("readelf").args(["--wide", "--dynamic"]).arg(library).env("LC_ALL", "C"),
    )?;
    let lines = text.lines().filter(|line| line.contains(&format!("({kind})")));
    let values =
        lines.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_string()));
    Ok(values.collect())
}

/// Allowed dependencies of the library. The unwinder, `libgcc_s`, is loaded lazily. `libm` is for
/// compiled models.
const C_LIBRARIES: [&str; 3] = ["libc.so", "libm.so", "ld-linux"];
const CXX_LIBRARIES: [&str; 4] = ["libc.so", "ld-linux", "libgcc_s.so", "libstdc++.so"];

#[test]
fn name_and_needs() -> Outcome<()> {
    let library = Library::get()?.shared();
    expect_needs(&library, &C_LIBRARIES)?;
    // A program may load a compiled model without this library's help.
    match dynamic(&library, "NEEDED")?.iter().any(|name| name.starts_with("libm.so")) {
        true => Ok(()),
        false => Err("it does not bring libm".to_string().into()),
    }
}

#[test]
#[ignore = "builds the library with C++ symbols: ./ci.sh exports"]
fn name_and_needs_with_cxx() -> Outcome<()> {
    expect_needs(&Library::with_cxx()?.shared(), &CXX_LIBRARIES)
}

/// Checks the soname, and that the library has no dependencies except the allowed ones.
fn expect_needs(library: &Path, allowed: &[&str]) -> Outcome<()> {
    let name = dynamic(library, "SONAME")?;
    if name != BTreeSet::from(["libtvm_ffi.so".to_string()]) {
        return Err(format!("its name is {name:?}").into());
    }
    let needed = dynamic(library, "NEEDED")?;
    println!("needs {needed:?}");
    let strange = |name: &&String| !allowed.iter().any(|allowed| name.starts_with(allowed));
    let strange: Vec<_> = needed.iter().filter(strange).collect();
    if strange.is_empty() { Ok(()) } else { Err(format!("needs {strange:?} too").into()) }
}

/// Checks that there are no text relocations, no executable stack, and no static thread-local
/// storage.
#[test]
fn hardening() -> Outcome<()> {
    let library = Library::get()?.shared();
    require("readelf", "binutils")?;
    let dynamic = output_of(Command::new("readelf").args(["--wide", "--dynamic"]).arg(&library))?;
    for flag in ["TEXTREL", "STATIC_TLS"] {
        if dynamic.contains(flag) {
            return Err(format!("it has the flag {flag}").into());
        }
    }
    let headers =
        output_of(Command::new("readelf").args(["--wide", "--program-headers"]).arg(&library))?;
    let stack = headers.lines().find(|line| line.contains("GNU_STACK"));
    match stack.and_then(|line| line.split_whitespace().rev().nth(1)) {
        Some("RW") => Ok(()),
        Some(flags) => Err(format!("a stack with the flags {flags}").into()),
        None => Err("no word on the stack, which is executable then".to_string().into()),
    }
}

#[test]
fn size() -> Outcome<()> {
    require("strip", "binutils")?;
    let stripped = scratch("exports")?.join("stripped.so");
    output_of(Command::new("strip").arg("-o").arg(&stripped).arg(Library::get()?.shared()))?;
    let bytes = std::fs::metadata(&stripped)?.len();
    println!(
        "stripped: {bytes} bytes, {} % of upstream's {UPSTREAM_BYTES}",
        bytes * 100 / UPSTREAM_BYTES
    );
    if bytes < UPSTREAM_BYTES {
        Ok(())
    } else {
        Err(format!("{bytes} bytes are more than upstream's").into())
    }
}
