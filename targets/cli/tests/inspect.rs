//! `ferrite inspect` on libraries of every kind, compared with `golden/`. `FERRITE_UPDATE_GOLDEN=1`
//! writes these files anew.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Library, Outcome, device, root, scratch};
use support::{Ran, ferrite, golden, json, kernels, without_sizes};

#[test]
fn our_kernels() -> Outcome<()> {
    let kernels = kernels("cli-inspect-kernels")?;
    golden("kernels", &without_sizes(&ferrite(&["inspect"], &[&kernels])?.success()?))?;
    golden(
        "kernels-run",
        &without_sizes(&ferrite(&["inspect", "--run"], &[&kernels])?.success()?),
    )?;
    golden(
        "kernels-json",
        &without_sizes(&ferrite(&["inspect", "--run", "--json"], &[&kernels])?.success()?),
    )
}

#[test]
fn kernels_of_tvm_for_devices() -> Outcome<()> {
    for kind in ["cuda", "opencl", "vulkan", "webgpu"] {
        let folder = scratch(&format!("cli-inspect-{kind}"))?;
        let library = device::models(&folder, kind, "host_llvm_x86_64.o").link()?;
        golden(kind, &without_sizes(&ferrite(&["inspect"], &[&library])?.success()?))?;
    }
    Ok(())
}

#[test]
fn models_of_relax() -> Outcome<()> {
    for mode in ["bytecode", "compiled"] {
        let model = root().join(format!("tests/programs/relax/models/mlp/{mode}.so"));
        golden(&format!("relax-{mode}"), &ferrite(&["inspect"], &[&model])?.success()?)?;
    }
    Ok(())
}

#[test]
fn libraries_for_other_processors() -> Outcome<()> {
    let folder = scratch("cli-inspect-other")?;
    let object = root().join("tests/programs/aot/llvm/models_sys_rv32imac.o");
    golden("other-object", &ferrite(&["inspect"], &[&object])?.success()?)?;
    let mut bytes = std::fs::read(root().join("tests/programs/relax/models/mlp/bytecode.so"))?;
    // The field e_machine of the header.
    bytes[18..20].copy_from_slice(&AARCH64.to_le_bytes());
    let library = folder.join("aarch64.so");
    std::fs::write(&library, bytes)?;
    golden("other-library", &ferrite(&["inspect"], &[&library])?.success()?)?;
    if cfg!(target_arch = "x86_64") {
        let message = ferrite(&["inspect", "--run"], &[&library])?.failure(3)?;
        assert!(
            message.starts_with("error: aarch64.so is a shared library in ELF for aarch64"),
            "{message}"
        );
    }
    Ok(())
}

const AARCH64: u16 = 183;

#[test]
fn truncated_files_and_other_files() -> Outcome<()> {
    let folder = scratch("cli-inspect-truncated")?;
    let whole = std::fs::read(root().join("tests/programs/relax/models/mlp/bytecode.so"))?;
    let mut messages = String::new();
    for length in [0, 3, 63, 64, 4096, whole.len() / 2, whole.len() - 1] {
        let library = folder.join("truncated.so");
        std::fs::write(&library, &whole[..length])?;
        messages += &format!("{length} bytes: {}", ferrite(&["inspect"], &[&library])?.failure(3)?);
    }
    messages += &ferrite(&["inspect"], &[&root().join("README.md")])?.failure(3)?;
    messages += &ferrite(&["inspect"], &[&folder.join("missing.so")])?.failure(3)?;
    messages += &ferrite(&["inspect"], &[&root().join("tests")])?.failure(3)?;
    golden("truncated", &messages)
}

/// The library that is tested, shared and static, and an archive of other objects.
#[test]
fn a_libtvm_ffi_says_whose_it_is() -> Outcome<()> {
    let library = Library::get()?;
    let shared = ferrite(&["inspect", "--run"], &[&library.shared()])?.success()?;
    let archive = ferrite(&["inspect"], &[&library.folder().join("libtvm_ffi.a")])?.success()?;
    assert!(shared.contains("\nlibtvm_ffi of Ferrite (version 0.1.16)\n"), "{shared}");
    assert!(archive.contains("\nlibtvm_ffi of Ferrite (its version: --run)\n"), "{archive}");
    assert!(archive.contains("  ELF archive of "), "{archive}");
    for printed in [shared, archive] {
        assert!(
            printed.contains("\n  C symbols: 50, all of release 0.1.14 and later\n"),
            "{printed}"
        );
        assert!(printed.contains("\n  features with symbols or drivers: backend\n"), "{printed}");
    }
    let folder = scratch("cli-inspect-archive")?;
    let models = root().join("tests/programs/aot/llvm/models_sys_rv32imac.o");
    let archive = folder.join("models.a");
    let mut bytes = b"!<arch>\n".to_vec();
    let object = std::fs::read(&models)?;
    bytes.extend(
        format!("{:16}{:12}{:6}{:6}{:8}{:<10}`\n", "models.o/", 0, 0, 0, 644, object.len())
            .as_bytes(),
    );
    bytes.extend(&object);
    std::fs::write(&archive, &bytes)?;
    let report = json(&ferrite(&["inspect", "--json"], &[&archive])?.success()?)?;
    let alone = json(&ferrite(&["inspect", "--json"], &[&models])?.success()?)?;
    assert_eq!(report["format"]["objects"], 1);
    assert_eq!((&report["functions"], &report["needs"]), (&alone["functions"], &alone["needs"]));
    assert!(report.get("provides").is_none());
    for length in [8, 20, 68, bytes.len() / 2] {
        std::fs::write(&archive, &bytes[..length])?;
        ferrite(&["inspect"], &[&archive])?.failure(3)?;
    }
    std::fs::write(&archive, &bytes)?;
    assert!(
        ferrite(&["list"], &[&archive])?
            .failure(3)?
            .contains("is an archive, which only `ferrite inspect` reads")
    );
    Ok(())
}

/// A library with the symbols of upstream's, and none of Ferrite's names.
#[test]
fn a_libtvm_ffi_of_upstream_is_known_by_its_symbols() -> Outcome<()> {
    let source = scratch("cli-inspect-upstream")?.join("other.c");
    let list = std::fs::read_to_string(root().join("tests/conformance/exports/symbols.txt"))?;
    let names: Vec<_> = list.lines().filter(|name| *name != "TVMFFITypeRegisterAttr").collect();
    std::fs::write(
        &source,
        names.iter().map(|name| format!("void {name}(void) {{}}\n")).collect::<String>(),
    )?;
    let library = Cc::shared(source.with_file_name("libtvm_ffi.so")).source(source).link()?;
    let printed = ferrite(&["inspect"], &[&library])?.success()?;
    assert!(
        printed.contains("\nlibtvm_ffi of upstream (its version: --run)\n  C symbols: 49\n"),
        "{printed}"
    );
    assert!(
        printed.contains("\n  lacks of the newest release: TVMFFITypeRegisterAttr\n"),
        "{printed}"
    );
    Ok(())
}

/// Bytes that are changed anywhere give a report or an error, never a panic.
#[test]
fn damaged_files_give_a_report_or_an_error() -> Outcome<()> {
    let folder = scratch("cli-inspect-damaged")?;
    let whole = std::fs::read(root().join("tests/programs/relax/models/cnn/bytecode.so"))?;
    let library = folder.join("damaged.so");
    for step in 0..40 {
        let mut bytes = whole.clone();
        // Every part of the file, the headers more often.
        let at = if step % 2 == 0 { 16 + step * 2 } else { step * whole.len() / 40 };
        for byte in bytes.iter_mut().skip(at).take(8) {
            *byte ^= 0xA5;
        }
        std::fs::write(&library, bytes)?;
        let Ran { status, stderr, .. } = ferrite(&["inspect"], &[&library])?;
        assert!(matches!(status, Some(0 | 3)), "{at}: {status:?} {stderr}");
    }
    Ok(())
}
