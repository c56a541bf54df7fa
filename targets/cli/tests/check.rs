//! `ferrite check` on libraries with planted mistakes, and on libraries without any.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Outcome, device, root, scratch};
use std::path::PathBuf;
use support::{ferrite, kernels};

/// Compiles `mistakes.c` with one of its mistakes.
fn mistake(define: &str) -> Outcome<PathBuf> {
    let folder = scratch(&format!("cli-check-{define}"))?;
    let source = root().join("targets/cli/tests/check/mistakes.c");
    Cc::shared(folder.join("mistake.so")).strict().args([format!("-D{define}")]).source(source).link()
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
        let found: Vec<_> =
            findings.iter().map(|finding| (finding["rule"].as_str(), finding["symbol"].as_str())).collect();
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
        let library = device::models(&scratch(&format!("cli-check-{kind}"))?, kind, "host.c").link()?;
        ferrite(&["check"], &[&library])?.success()?;
    }
    for model in ["mlp", "control", "values"] {
        let models = root().join("tests/programs/relax/models").join(model);
        ferrite(&["check"], &[&models.join("bytecode.so")])?.success()?;
        ferrite(&["check"], &[&models.join("compiled.so")])?.success()?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_loaded_is_read() -> Outcome<()> {
    let object = root().join("tests/programs/aot/llvm/models_sys_thumbv7em.o");
    let printed = ferrite(&["check"], &[&object])?.success()?;
    assert!(printed.contains("note: no function was called: this machine cannot load the file"), "{printed}");
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
