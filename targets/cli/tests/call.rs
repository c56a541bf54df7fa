//! `ferrite call` with arguments of every form.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Outcome, root, scratch};
use support::{Ran, ferrite, kernels};

/// Calls a function of the example kernels.
fn call(name: &str, function: &str, arguments: &[&str]) -> Outcome<Ran> {
    let library = kernels(name)?;
    let library = library.to_string_lossy();
    let words: Vec<_> = ["call", &library, function].into_iter().chain(arguments.iter().copied()).collect();
    ferrite(&words, &[])
}

#[test]
fn lists_of_numbers_are_vectors() -> Outcome<()> {
    assert_eq!(call("cli-call-lists", "dot", &["[1,2]", "[3,4]"])?.success()?, "11\n");
    assert_eq!(call("cli-call-lists", "dot", &["float32:[1.5]", "[-2]"])?.success()?, "-3\n");
    assert_eq!(call("cli-call-lists", "dot", &["[]", "[]"])?.success()?, "0\n");
    Ok(())
}

#[test]
fn new_tensors_show_results() -> Outcome<()> {
    let printed = call("cli-call-new", "add_one", &["[1, 2.5]", "float32[2]"])?.success()?;
    assert_eq!(printed, "argument 1: float32[2] [2, 3.5]\n");
    let printed = call("cli-call-new", "add_one", &["[1, 2.5]", "float32[2]", "--json"])?.success()?;
    let printed: String = printed.split_whitespace().collect();
    assert_eq!(
        printed,
        r#"{"outputs":{"1":{"dtype":"float32","elements":[2.0,3.5],"shape":[2]}},"result":null}"#
    );
    Ok(())
}

#[test]
fn tensors_come_from_files() -> Outcome<()> {
    let library = kernels("cli-call-files")?;
    let library = library.to_string_lossy();
    let file = |name: &str| format!("@{}", root().join(name).display());
    let x = file("tests/programs/device/data/add_one/x.npy");
    let printed = ferrite(&["call", &library, "add_one", &x, "float32[1024]"], &[])?.success()?;
    assert!(printed.starts_with("argument 1: float32[1024] [") && printed.ends_with(", ...]\n"), "{printed}");
    assert_eq!(ferrite(&["call", &library, "add_one", &x, &x], &[])?.success()?, "None\n");
    for (name, why) in
        [("missing.npy", "cannot read"), ("tests/programs/aot/add_one/add_one.c", "no whole file of NumPy")]
    {
        let message = ferrite(&["call", &library, "add_one", &file(name), "float32[16]"], &[])?.failure(3)?;
        assert!(message.contains("argument 0") && message.contains(why), "{message}");
    }
    Ok(())
}

#[test]
fn errors_of_functions_have_kind_message_and_backtrace() -> Outcome<()> {
    let message = call("cli-call-errors", "add_one", &["[1,2]", "float32[3]"])?.failure(1)?;
    assert!(
        message.starts_with("error: ValueError: add_one: expected vectors of the same length\n"),
        "{message}"
    );
    assert!(
        message.contains("\nbacktrace, most recent call first:\n")
            && message.contains("in __tvm_ffi_add_one"),
        "{message}"
    );
    Ok(())
}

#[test]
fn wrong_arguments_are_explained() -> Outcome<()> {
    for (function, argument, why) in [
        ("none", "[1]", "has no function `none`: `ferrite inspect` lists them"),
        ("dot", "text", "this is not JSON"),
        ("dot", "[1, [2]]", ""),
        ("dot", "int8:[300]", "300 does not fit int8"),
        ("dot", "int32:[1.5]", "1.5 does not fit int32"),
        ("dot", "float32:[[1], [2, 3]]", "equal lengths"),
        ("dot", "float32[x]", "`x` is not an extent"),
        ("dot", "float32[-1]", "negative extent"),
        ("dot", "float32[9999999999,9999999999,9]", "more elements than memory can hold"),
        ("dot", "float32[99999999999999]", "MemoryError"),
    ] {
        let ran = call("cli-call-wrong", function, &[argument, "[1]"])?;
        assert!(matches!(ran.status, Some(1 | 2)), "{argument}: {:?} {}", ran.status, ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(why), "{argument}: {}", ran.stderr);
    }
    let message = ferrite(&["call", "no/such/library.so", "f"], &[])?.failure(3)?;
    assert!(message.starts_with("error: cannot read no/such/library.so: "), "{message}");
    let message = ferrite(&["call"], &[])?.failure(2)?;
    assert!(message.contains("<LIBRARY>"), "{message}");
    Ok(())
}

#[test]
fn libraries_of_other_processors_are_not_loaded() -> Outcome<()> {
    let library = scratch("cli-call-other")?.join("other.so");
    let mut bytes = std::fs::read(root().join("tests/programs/relax/models/mlp/bytecode.so"))?;
    // The field e_machine of the header.
    bytes[18..20].copy_from_slice(&243u16.to_le_bytes());
    std::fs::write(&library, bytes)?;
    let path = &*library.to_string_lossy();
    for words in [
        &["call", path, "stats"][..],
        &["bench", path, "stats"],
        &["list", path],
        &["inspect", "--run", path],
    ] {
        let message = ferrite(words, &[])?.failure(3)?;
        assert!(message.contains("is a shared library in ELF for riscv64"), "{words:?}: {message}");
    }
    Ok(())
}

#[test]
fn models_of_relax_have_functions() -> Outcome<()> {
    let models = root().join("tests/programs/relax/models");
    let model = models.join("mlp/bytecode.so");
    let ran = ferrite(&["call", &model.to_string_lossy(), "stats"], &[])?.success()?;
    assert!(ran.starts_with("Relax VM executable statistics:"), "{ran}");
    Ok(())
}
