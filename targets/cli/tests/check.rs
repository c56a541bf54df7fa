//! `ferrite check` on libraries with planted mistakes, and on libraries without any.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Outcome, device, root, scratch};
use std::path::PathBuf;
use support::{ferrite, json, kernels};

/// Compiles `mistakes.c` with one of its mistakes.
fn mistake(define: &str) -> Outcome<PathBuf> {
    let folder = scratch(&format!("cli-check-{define}"))?;
    let source = root().join("targets/cli/tests/check/mistakes.c");
    Cc::shared(folder.join("mistake.so"))
        .strict()
        .args([format!("-D{define}")])
        .source(source)
        .link()
}

#[test]
fn each_planted_mistake_is_found_alone() -> Outcome<()> {
    for (define, rule, symbol) in [
        ("DATA_FOR_FUNCTION", "symbol-type", "work"),
        ("FUNCTION_FOR_CONTEXT", "symbol-type", "__tvm_ffi__library_ctx"),
        ("READ_ONLY_CONTEXT", "read-only-context", "__tvm_ffi__library_ctx"),
        ("MISSING_CONTEXT", "missing-context", "__tvm_ffi__library_ctx"),
        ("MALFORMED_MODULES", "embedded-binary", "__tvm_ffi__library_bin"),
        ("ORPHAN_DOC", "orphan-text", "__tvm_ffi__doc_play"),
        ("MALFORMED_METADATA", "metadata", "work"),
        ("SILENT_FAILURE", "silent-failure", "work"),
        ("ERROR_AFTER_SUCCESS", "error-after-success", "work"),
        ("UNKNOWN_STATUS", "status", "work"),
        ("RESULT_AFTER_FAILURE", "result-after-failure", "work"),
        ("RESULT_PADDING", "result-padding", "work"),
        ("RETAINED_ARGUMENT", "retained-argument", "work"),
        ("RELEASED_ARGUMENT", "released-argument", "work"),
        ("CHANGED_ARGUMENT", "changed-argument", "work"),
        ("LEAK", "leak", "work"),
        ("CRASH", "crash", "work"),
    ] {
        let ran = ferrite(&["check", "--json"], &[&mistake(define)?])?;
        let report: serde_json::Value = serde_json::from_str(&ran.stdout)
            .map_err(|error| format!("{define}: {error}\n{}", ran.stderr))?;
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding["rule"].as_str(), finding["symbol"].as_str()))
            .collect();
        assert_eq!(found, [(Some(rule), Some(symbol))], "{define}: {}", ran.stdout);
        assert_eq!(ran.status, Some(1), "{define}");
    }
    Ok(())
}

#[test]
fn without_a_mistake_there_is_none() -> Outcome<()> {
    let printed = ferrite(&["check"], &[&mistake("NO_MISTAKE")?])?.success()?;
    assert_eq!(printed, "mistake.so: 1 functions called\n  no mistake found\n");
    let printed = ferrite(&["check"], &[&kernels("cli-check-kernels")?])?.success()?;
    assert_eq!(printed, "kernels.so: 2 functions called\n  no mistake found\n");
    for kind in ["opencl", "cuda"] {
        let library =
            device::models(&scratch(&format!("cli-check-{kind}"))?, kind, "host.c").link()?;
        let ran = ferrite(&["check"], &[&library])?;
        if cfg!(feature = "devices") {
            ran.success()?;
        } else {
            let message = ran.failure(6)?;
            assert!(
                message.ends_with("build this command with `--features devices`\n"),
                "{message}"
            );
        }
    }
    for model in ["mlp", "control", "values"] {
        let models = root().join("tests/programs/relax/models").join(model);
        ferrite(&["check"], &[&models.join("bytecode.so")])?.success()?;
        ferrite(&["check"], &[&models.join("compiled.so")])?.success()?;
    }
    Ok(())
}

/// A library that the dynamic linker refuses has a status of its own, in every command that loads
/// it.
#[test]
fn what_the_linker_refuses_is_told_in_its_words() -> Outcome<()> {
    let source = scratch("cli-check-unloadable")?.join("unloadable.c");
    let text = "extern int nobody_has_this(void);\nint __tvm_ffi_work(void);\n\
        int __tvm_ffi_work(void) { return nobody_has_this(); }\n";
    std::fs::write(&source, text)?;
    let library = Cc::shared(source.with_file_name("unloadable.so"))
        .strict()
        .args(["-Wl,-z,now"])
        .source(source)
        .link()?;
    let ran = ferrite(&["check"], &[&library])?;
    assert!(
        !ran.stdout.contains("no mistake found\n") && ran.stdout.contains("does not load\n"),
        "{}",
        ran.stdout
    );
    for words in [&["check"][..], &["inspect", "--run"], &["list"], &["stubs", "--python"]] {
        let message = ferrite(words, &[&library])?.failure(6)?;
        assert!(
            message.starts_with("error: unloadable.so does not load: "),
            "{words:?}: {message}"
        );
        assert!(message.contains("undefined symbol: nobody_has_this"), "{words:?}: {message}");
    }
    let path = library.to_string_lossy();
    for words in [["call", &path, "work"], ["bench", &path, "work"]] {
        let message = ferrite(&words, &[])?.failure(6)?;
        assert!(message.contains("undefined symbol: nobody_has_this"), "{words:?}: {message}");
    }
    let report = json(&ferrite(&["check", "--json"], &[&library])?.stdout)?;
    let why = report["load_error"].as_str().unwrap_or_default();
    assert!(why.contains("nobody_has_this"), "{report}");
    Ok(())
}

#[test]
fn a_library_without_functions_is_loaded_too() -> Outcome<()> {
    let source = scratch("cli-check-empty")?.join("empty.c");
    let text = "extern int nobody_has_this(void);\nint other(void);\nint other(void) { return nobody_has_this(); }\n";
    std::fs::write(&source, text)?;
    let library = Cc::shared(source.with_file_name("empty.so"))
        .strict()
        .args(["-Wl,-z,now"])
        .source(source)
        .link()?;
    assert!(ferrite(&["check"], &[&library])?.failure(6)?.contains("nobody_has_this"));
    ferrite(&["check", "--no-calls"], &[&library])?.success()?;
    Ok(())
}

/// Symbols of functions are looked up when they are called, unless the library asks for all at
/// once.
#[test]
fn a_symbol_that_nobody_has_is_found_by_the_call() -> Outcome<()> {
    let source = scratch("cli-check-lazy")?.join("lazy.c");
    let text = "extern int nobody_has_this(void);\nint __tvm_ffi_work(void);\nint __tvm_ffi_rest(void);\n\
        int __tvm_ffi_work(void) { return nobody_has_this(); }\nint __tvm_ffi_rest(void) { return 0; }\n";
    std::fs::write(&source, text)?;
    let library = Cc::shared(source.with_file_name("lazy.so"))
        .strict()
        .args(["-Wl,-z,lazy"])
        .source(source)
        .link()?;
    let ran = ferrite(&["check"], &[&library])?;
    for line in [
        "2 functions called",
        "note: 1 symbols are in no library that it links: nobody_has_this\n",
        "[unresolved-symbol] work: ",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    ran.failure(1)?;
    Ok(())
}

/// Calls a C++ function of `libtvm_ffi`, as most libraries do.
#[test]
fn a_library_in_cxx_is_called_or_the_feature_is_named() -> Outcome<()> {
    let source = root().join("targets/cli/tests/check/cxx.c");
    let library = Cc::shared(scratch("cli-check-cxx")?.join("cxx.so")).source(source).link()?;
    let path = library.to_string_lossy();
    let ran = ferrite(&["call", &path, "hash", "5"], &[])?;
    if cfg!(feature = "cxx-abi") {
        let hash: i64 = ran.success()?.trim().parse().map_err(|error| format!("{error}"))?;
        let other = ferrite(&["call", &path, "hash", "6"], &[])?.success()?;
        assert_ne!(other.trim().parse(), Ok(hash));
        ferrite(&["check"], &[&library])?.success()?;
        return Ok(());
    }
    let message = ran.failure(6)?;
    for part in [
        "(tvm::ffi::RecursiveHash(tvm::ffi::Any const&))",
        "--features cxx-abi",
        "targets/host/build.sh",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    Ok(())
}

#[test]
fn findings_of_one_kind_are_one_line() -> Outcome<()> {
    let source = scratch("cli-check-grouped")?.join("grouped.c");
    let functions = ["a", "b", "c"].map(|name| {
        format!(
            "int __tvm_ffi__doc_{name}(void);\nint __tvm_ffi__doc_{name}(void) {{ return 0; }}\n"
        )
    });
    std::fs::write(&source, functions.concat())?;
    let library = Cc::shared(source.with_file_name("grouped.so")).strict().source(source).link()?;
    let ran = ferrite(&["check"], &[&library])?;
    let line = "  [orphan-text] __tvm_ffi__doc_a, __tvm_ffi__doc_b, __tvm_ffi__doc_c: ";
    assert_eq!(ran.stdout.matches("orphan-text").count(), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    ran.failure(1)?;
    Ok(())
}

#[test]
fn what_cannot_be_loaded_is_read() -> Outcome<()> {
    let object = root().join("tests/programs/aot/llvm/models_sys_thumbv7em.o");
    let printed = ferrite(&["check"], &[&object])?.success()?;
    assert!(
        printed.contains("note: no function was called: this machine cannot load the file"),
        "{printed}"
    );
    ferrite(&["check"], &[&root().join("README.md")])?.failure(3)?;
    Ok(())
}

/// Runtimes hand the lookup to the libraries that they load, and have no imports of their own.
#[test]
fn a_runtime_that_passes_the_lookup_on_needs_no_context() -> Outcome<()> {
    let source = scratch("cli-check-runtime")?.join("runtime.c");
    let text = "#include <tvm/ffi/extra/c_env_api.h>\nvoid *lookup(void);\n\
        static int (*const held)(TVMFFIObjectHandle, const char *, TVMFFIObjectHandle *) = TVMFFIEnvModLookupFromImports;\n\
        void *lookup(void) { return (void *)&held; }\n";
    std::fs::write(&source, text)?;
    let library = Cc::shared(source.with_file_name("runtime.so")).strict().source(source).link()?;
    let printed = ferrite(&["check"], &[&library])?.success()?;
    assert_eq!(printed, "runtime.so: 0 functions called\n  no mistake found\n");
    Ok(())
}
