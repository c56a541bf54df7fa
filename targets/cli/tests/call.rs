//! `ferrite call` with arguments of every form.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Outcome, root, scratch};
use std::path::{Path, PathBuf};
use support::{Ran, ferrite, json, kernels};

/// Calls a function of the example kernels.
fn call(name: &str, function: &str, arguments: &[&str]) -> Outcome<Ran> {
    let library = kernels(name)?;
    let library = library.to_string_lossy();
    let words: Vec<_> =
        ["call", &library, function].into_iter().chain(arguments.iter().copied()).collect();
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
    let printed =
        call("cli-call-new", "add_one", &["[1, 2.5]", "float32[2]", "--json"])?.success()?;
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
    assert!(
        printed.starts_with("argument 1: float32[1024] [")
            && printed.contains(", ..., ")
            && printed.ends_with("]\n"),
        "{printed}"
    );
    assert_eq!(ferrite(&["call", &library, "add_one", &x, &x], &[])?.success()?, "None\n");
    for (name, why) in [
        ("missing.npy", "cannot read"),
        ("tests/programs/aot/add_one/add_one.c", "not a NumPy file, or is truncated"),
    ] {
        let message =
            ferrite(&["call", &library, "add_one", &file(name), "float32[16]"], &[])?.failure(3)?;
        assert!(message.contains("argument 0") && message.contains(why), "{message}");
    }
    Ok(())
}

/// Compiles `values.c`.
fn values(scratch_name: &str) -> Outcome<PathBuf> {
    let source = root().join("targets/cli/tests/call/values.c");
    Cc::shared(scratch(scratch_name)?.join("values.so")).strict().source(source).link()
}

/// Calls a function of `values.c`.
fn value_of(library: &Path, function: &str, arguments: &[&str]) -> Outcome<Ran> {
    let library = library.to_string_lossy();
    let words: Vec<_> =
        ["call", &library, function].into_iter().chain(arguments.iter().copied()).collect();
    ferrite(&words, &[])
}

/// An argument of each data type, and its result, which has the same elements.
#[rustfmt::skip]
const TYPES: [(&str, &str); 36] = [
    ("bool", "[true, false, true]"),
    ("uint1", "[1, 0, 1, 1, 0, 0, 1, 1, 1]"), ("uint2", "[0, 3, 1, 2, 3]"), ("uint4", "[0, 15, 9]"),
    ("int2", "[-2, 1, -1]"), ("int4", "[-8, 7, -1]"), ("int3", "[-4, 3, -1]"),
    ("int8", "[-128, 127]"), ("int16", "[-32768, 32767]"), ("int32", "[-2147483648, 2147483647]"),
    ("int64", "[-9223372036854775808, 9223372036854775807]"),
    ("uint8", "[0, 255]"), ("uint16", "[0, 65535]"), ("uint32", "[0, 4294967295]"), ("uint64", "[0, 18446744073709551615]"),
    ("float16", "[0.1, -65504, inf]"), ("bfloat16", "[3.14, -9e-41, 3.39e38]"),
    ("float32", "[0.1, -3.4028235e38, NaN]"), ("float64", "[0.1, 5e-324, -inf]"),
    ("float8_e3m4", "[0.125, -15.5, inf]"), ("float8_e4m3", "[0.3125, 240]"), ("float8_e4m3b11fnuz", "[0.3125, -30, NaN]"),
    ("float8_e4m3fn", "[0.3125, -448, NaN]"), ("float8_e4m3fnuz", "[0.3125, 240]"), ("float8_e5m2", "[0.3125, -57344, inf]"),
    ("float8_e5m2fnuz", "[0.3125, 57344]"), ("float8_e8m0fnu", "[0.5, 1, 64, NaN]"),
    ("float6_e2m3fn", "[0.125, -7.5, 1, 2, 3]"), ("float6_e3m2fn", "[0.0625, 28, -1]"), ("float4_e2m1fn", "[0.5, -6, 3]"),
    ("float4_e2m1fn_x2", "[[0.5, -6], [3, 1]]"), ("float32x4", "[[1, 2, 3, 4], [5, 6, 7, 8.5]]"), ("int4x2", "[[-8, 7]]"),
    ("complex64", "[[0.1, -2], [3, 4]]"), ("complex128", "[[0.1, -2]]"), ("handle", "[0, 4096]"),
];

#[test]
fn every_data_type_is_taken_and_shown() -> Outcome<()> {
    let library = values("cli-call-types")?;
    for (dtype, elements) in TYPES {
        // JSON writes numbers that are not finite as strings.
        let quoted = elements
            .replace("-inf", "\"-inf\"")
            .replace(" inf", " \"inf\"")
            .replace("NaN", "\"NaN\"");
        let argument = format!("{dtype}:{quoted}");
        let printed = value_of(&library, "echo", &[&argument])?.success()?;
        let shown = printed.split_once(' ').map(|(_, shown)| shown.trim_end());
        assert_eq!(shown, Some(elements), "{printed}");
        // Names that only NumPy and PyTorch give are written as the ABI does.
        let name = printed.split_once('[').map(|(name, _)| name).unwrap_or_default();
        assert!(
            dtype == name || dtype.strip_suffix("_x2").is_some_and(|plain| name.starts_with(plain)),
            "{printed}"
        );
        let written = value_of(&library, "echo", &["--json", &argument])?.success()?;
        let found = json(&written)?;
        let parsed = json(&quoted)?;
        let is_same = found["result"]["elements"].to_string().replace(".0", "")
            == parsed.to_string().replace(".0", "");
        assert!(is_same, "{dtype}: {}", found["result"]["elements"]);
    }
    Ok(())
}

#[test]
fn numbers_that_a_type_lacks_are_refused() -> Outcome<()> {
    let library = values("cli-call-lacks")?;
    for (argument, why) in [
        ("uint1:[2]", "2 does not fit uint1"),
        ("int4:[8]", "8 does not fit int4"),
        ("uint4:[-1]", "-1 does not fit uint4"),
        ("bool:[2]", "2 does not fit bool"),
        ("float16:[65520]", "65520 does not fit float16"),
        ("float32:[1e39]", "1e+39 does not fit float32"),
        ("float8_e4m3fn:[\"inf\"]", "\"inf\" does not fit float8_e4m3fn"),
        ("float8_e8m0fnu:[0]", "0 does not fit float8_e8m0fnu"),
        ("float4_e2m1fn:[\"nan\"]", "\"nan\" does not fit float4_e2m1fn"),
        ("float32:[\"one\"]", "\"one\" does not fit float32"),
        ("float32x2:[1, 2, 3]", "a vector is a list of 2"),
        ("complex64:[1]", "a complex number is a list of two"),
        ("float8:[1]", "float8, which has several formats: name one, such as float8_e4m3fn"),
        ("int128:[1]", "numbers cannot be written as int128"),
    ] {
        let message = value_of(&library, "echo", &[argument])?.failure(2)?;
        assert!(
            message.starts_with("error: argument 0, ") && message.contains(why),
            "{argument}: {message}"
        );
    }
    Ok(())
}

#[test]
fn tensors_of_every_layout_are_nested_by_their_shape() -> Outcome<()> {
    let library = values("cli-call-layouts")?;
    for (function, printed) in [
        ("transposed", "int16[3, 2] [[0, 3], [1, 4], [2, 5]]\n"),
        ("behind", "int16[3, 2] [[2, 3], [4, 5], [6, 7]]\n"),
        ("reversed", "int16[2, 2] [[7, 6], [5, 4]]\n"),
        ("thirds", "uint4[1, 3] [[0, 3, 6]]\n"),
        ("elsewhere", "int16[2, 2]\n"),
    ] {
        assert_eq!(value_of(&library, function, &[])?.success()?, printed, "{function}");
    }
    let rows = value_of(&library, "echo", &["[[1, 2, 3], [4, 5, 6]]"])?.success()?;
    assert_eq!(rows, "float32[2, 3] [[1, 2, 3], [4, 5, 6]]\n");
    let listed = value_of(&library, "listed", &["[[1], [2]]"])?.success()?;
    assert_eq!(listed, "[\n  float32[2, 1] [[1], [2]],\n  5,\n]\n");
    let written = value_of(&library, "listed", &["--json", "[[1], [2]]"])?.success()?;
    let found = json(&written)?;
    assert_eq!(found["result"][0]["elements"].to_string(), "[[1.0],[2.0]]");
    Ok(())
}

#[test]
fn files_have_the_bits_of_types_that_numpy_lacks() -> Outcome<()> {
    let library = values("cli-call-bits-c")?;
    let folder = scratch("cli-call-bits")?;
    let file = folder.join("bits.npy");
    let mut bytes = b"\x93NUMPY\x01\x00\x3b\x00".to_vec();
    bytes.extend(
        format!("{:59}", "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 1), }").as_bytes(),
    );
    bytes.extend([0xc0, 0x3f, 0x00, 0xc0]);
    std::fs::write(&file, bytes)?;
    let file = file.display();
    let typed = format!("bfloat16:@{file}");
    assert_eq!(value_of(&library, "echo", &[&typed])?.success()?, "bfloat16[2, 1] [[1.5], [-2]]\n");
    for (argument, why) in [
        (format!("@{file}"), "write it in front, as in bfloat16:@FILE"),
        (format!("float32:@{file}"), "elements of the type '<V2' are no float32"),
        (format!("int4:@{file}"), "elements of int4 have no whole bytes"),
    ] {
        let message = value_of(&library, "echo", &[&argument])?.failure(3)?;
        assert!(message.contains(why), "{message}");
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
        ("dott", "[1]", "has no function `dott`: did you mean `dot`?"),
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
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(why),
            "{argument}: {}",
            ran.stderr
        );
    }
    let message = ferrite(&["call", "no/such/library.so", "f"], &[])?.failure(3)?;
    assert!(message.starts_with("error: cannot read no/such/library.so: "), "{message}");
    let message = ferrite(&["call"], &[])?.failure(2)?;
    assert!(message.contains("<LIBRARY>"), "{message}");
    Ok(())
}

#[test]
fn errors_are_json_beside_json() -> Outcome<()> {
    let library = kernels("cli-call-json")?;
    let library = library.to_string_lossy();
    let missing = ["call", "--json", "no/such/library.so", "f"];
    for (words, status, kind) in [
        (&["call", "--json", &library, "add_one", "[1]", "float32[2]"][..], 1, "failure"),
        (&["call", "--json", &library], 2, "usage"),
        (&["call", "--json", &library, "dott"], 2, "usage"),
        (&missing, 3, "input"),
        (&["inspect", "--json", "no/such/library.so"], 3, "input"),
        (&["bench", "--json", &library, "dott"], 2, "usage"),
        (&["check", "--json", "no/such/library.so"], 3, "input"),
        (&["list", "--json", "no/such/library.so"], 3, "input"),
        (&["stubs", "--json", "no_such_package_of_python"], 4, "missing"),
        (&["doctor", "--json", "--unknown"], 2, "usage"),
    ] {
        let ran = ferrite(words, &[])?;
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (Some(status), ""),
            "{words:?}: {}",
            ran.stderr
        );
        let error = json(&ran.stderr)?;
        assert_eq!(error["error"]["status"], status, "{words:?}: {error}");
        assert_eq!(error["error"]["kind"], kind, "{words:?}: {error}");
        assert!(
            error["error"]["message"].as_str().is_some_and(|text| !text.starts_with("error")),
            "{error}"
        );
    }
    let ran = ferrite(&["call", "--json", &library, "add_one", "[1]", "float32[2]"], &[])?;
    let error = json(&ran.stderr)?;
    assert_eq!(
        error["error"]["message"],
        "ValueError: add_one: expected vectors of the same length"
    );
    assert_eq!(error["error"]["raised"]["kind"], "ValueError");
    assert!(
        error["error"]["raised"]["backtrace"].as_array().is_some_and(|frames| !frames.is_empty()),
        "{error}"
    );
    // Behind `--`, it is an argument of the function.
    assert!(
        ferrite(&["call", &library, "dott", "--", "--json"], &[])?
            .failure(2)?
            .starts_with("error: ")
    );
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
