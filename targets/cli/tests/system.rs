//! `ferrite list`, `doctor`, `devices`, `model`, `completions` and `man`: what there is on a
//! machine, with stand-ins for its parts.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Cc, Library, Outcome, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Ran, ferrite, golden, json};

/// Runs the command with these variables in its environment.
fn ferrite_with(arguments: &[&str], variables: &[(&str, &str)]) -> Outcome<Ran> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let output = command.args(arguments).envs(variables.iter().copied()).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ran {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

// ---- list

#[test]
fn list_has_the_functions_and_types_of_this_library() -> Outcome<()> {
    let printed = ferrite(&["list"], &[])?.success()?;
    for line in ["global    ffi.Array", "global    ffi.ModuleLoadFromFile"] {
        assert!(printed.lines().any(|one| one == line), "{line}\n{printed}");
    }
    assert!(printed.contains("\ntype      ffi.Array: ffi.Object {"), "{printed}");
    assert!(!printed.contains("exported"), "{printed}");
    let names = json(&ferrite(&["list", "--json"], &[])?.success()?)?;
    let functions = names["global_functions"].as_array().cloned().unwrap_or_default();
    assert!(
        functions.iter().any(|name| name == "ffi.Array")
            && functions.is_sorted_by_key(Value::to_string)
    );
    assert!(names.get("exported").is_none());
    Ok(())
}

#[test]
fn list_has_what_a_library_exports_and_registers() -> Outcome<()> {
    let source = root().join("targets/cli/tests/stubs/names.c");
    let library =
        Cc::shared(scratch("cli-list")?.join("names.so")).strict().source(source).link()?;
    golden("list-names", &ferrite(&["list"], &[&library])?.success()?)?;
    let names = json(&ferrite(&["list", "--json"], &[&library])?.success()?)?;
    assert_eq!(names["types"][0]["key"], "edge.More");
    assert_eq!(names["types"][0]["parent"], "edge.Pair");
    ferrite(&["list", "no/such/library.so"], &[])?.failure(3)?;
    Ok(())
}

// ---- doctor

/// Writes a file named `libtvm_ffi.so` into a folder of its own.
fn library_file(folder: &str, bytes: &[u8]) -> Outcome<PathBuf> {
    let folder = scratch(folder)?;
    fs::write(folder.join("libtvm_ffi.so"), bytes)?;
    Ok(folder)
}

#[test]
fn doctor_says_whose_library_comes_first() -> Outcome<()> {
    let ours = text_of(Library::get()?.folder());
    let report = ferrite_with(&["doctor", "--json"], &[("LD_LIBRARY_PATH", &ours)])?.success()?;
    let report = json(&report)?;
    let first = &report["libraries"][0];
    assert_eq!((&first["origin"], &first["place"]), (&"ferrite".into(), &"LD_LIBRARY_PATH".into()));
    assert_eq!(first["problem"], Value::Null);
    let printed = ferrite_with(&["doctor"], &[("LD_LIBRARY_PATH", &ours)])?.success()?;
    assert!(printed.contains("libtvm_ffi.so (ferrite, LD_LIBRARY_PATH): fits\n"), "{printed}");
    Ok(())
}

#[test]
fn doctor_refuses_what_does_not_fit() -> Outcome<()> {
    let whole = fs::read(root().join("tests/programs/relax/models/mlp/bytecode.so"))?;
    let mut other = whole.clone();
    // The field e_machine of the header.
    other[18..20].copy_from_slice(&243u16.to_le_bytes());
    for (name, bytes, why) in [
        ("lacks", whole.as_slice(), " symbols of the newest release: TVMFFI"),
        ("other", other.as_slice(), "it is for riscv64"),
        ("text", b"no library", "is not a library, or is truncated"),
    ] {
        let folder = text_of(&library_file(&format!("cli-doctor-{name}"), bytes)?);
        let ran = ferrite_with(&["doctor"], &[("LD_LIBRARY_PATH", &folder)])?;
        let message = ran.failure(1)?;
        assert!(
            message.contains("libtvm_ffi.so is the first that a process would load: "),
            "{message}"
        );
        assert!(message.contains(why), "{message}");
    }
    Ok(())
}

#[test]
fn doctor_keeps_the_order_of_folders() -> Outcome<()> {
    let ours = text_of(Library::get()?.folder());
    let broken = text_of(&library_file("cli-doctor-order", b"no library")?);
    let order = |value: String| ferrite_with(&["doctor"], &[("LD_LIBRARY_PATH", &value)]);
    order(format!("{ours}:{broken}"))?.success()?;
    order(format!("{broken}:{ours}"))?.failure(1)?;
    Ok(())
}

#[test]
fn doctor_names_missing_tools() -> Outcome<()> {
    let ours = text_of(Library::get()?.folder());
    let variables = [("LD_LIBRARY_PATH", ours.as_str()), ("PATH", "/no/such/folder")];
    let printed = ferrite_with(&["doctor"], &variables)?.success()?;
    for tool in ["cc", "cargo", "python3", "cmake"] {
        assert!(printed.contains(&format!("\n  {tool:<8} missing (for ")), "{printed}");
    }
    let report =
        json(&ferrite_with(&["doctor", "--json"], &[("LD_LIBRARY_PATH", &ours)])?.success()?)?;
    let cc = report["tools"][0]["version"].as_str().unwrap_or_default();
    assert!(report["tools"][0]["name"] == "cc" && !cc.is_empty(), "{report}");
    Ok(())
}

// ---- devices

#[test]
fn devices_are_listed_or_their_absence_is_explained() -> Outcome<()> {
    let ran = ferrite(&["devices"], &[])?;
    if !cfg!(feature = "devices") {
        let message = ran.failure(4)?;
        assert_eq!(
            message,
            "error: this build has no devices: build it with `--features devices`\n"
        );
        return Ok(());
    }
    let listed = ferrite(&["devices", "--json"], &[])?;
    let devices = json(&listed.stdout)?;
    match listed.status {
        Some(0) => assert!(devices[0]["device"].is_string(), "{devices}"),
        _ => {
            assert_eq!(devices, Value::Array(Vec::new()));
            let error = json(&listed.failure(4)?)?;
            let message = error["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with(NO_DEVICE), "{error}");
        }
    }
    Ok(())
}

const NO_DEVICE: &str = "no device was found: OpenCL, Vulkan, CUDA and ROCm come with";

// ---- model

/// Writes a program that stands in for Python: it prints its arguments and ends with 7.
#[cfg(unix)]
fn stand_in_for_python(folder: &str) -> Outcome<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let program = scratch(folder)?.join("python");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n")?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program)
}

#[test]
#[cfg(unix)]
fn model_passes_arguments_and_status_on() -> Outcome<()> {
    let python = text_of(&stand_in_for_python("cli-model")?);
    let words = ["model", "net.onnx", "--target", "host", "--help"];
    let ran = ferrite_with(&words, &[("PYTHON", &python)])?;
    let (program, arguments) =
        ran.stdout.trim_start_matches("-B\n").split_once('\n').unwrap_or_default();
    assert!(program.ends_with("/targets/model"), "{program}");
    assert_eq!(arguments, "net.onnx\n--target\nhost\n--help\n");
    assert!(!Path::new(program).exists(), "{program} was not removed");
    ran.failure(7)?;
    Ok(())
}

#[test]
fn model_needs_python() -> Outcome<()> {
    let message =
        ferrite_with(&["model", "net.onnx"], &[("PYTHON", "no-such-python")])?.failure(4)?;
    assert!(message.starts_with("error: cannot run `no-such-python`: "), "{message}");
    assert!(message.contains("Install Python 3.10 or later, or name it by PYTHON"), "{message}");
    Ok(())
}

/// The command as an installation has it: elsewhere, in `bin`, beside `lib` with the library, and
/// without the path of a clone.
#[cfg(unix)]
fn installed(name: &str) -> Outcome<PathBuf> {
    let prefix = scratch(name)?;
    let _ = fs::remove_dir_all(&prefix);
    for folder in ["bin", "lib", "work"] {
        fs::create_dir_all(prefix.join(folder))?;
    }
    // A link: a copy could not be started while a child of another test has it open.
    fs::hard_link(env!("CARGO_BIN_EXE_ferrite"), prefix.join("bin/ferrite"))?;
    Ok(prefix)
}

/// Runs the installed command in the folder `work`.
#[cfg(unix)]
fn ferrite_of(prefix: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome<Ran> {
    let mut command = Command::new(prefix.join("bin/ferrite"));
    // Neither folder is a clone.
    command.env_remove("FERRITE").env("CARGO_MANIFEST_DIR", "").current_dir(prefix.join("work"));
    let output = command.args(arguments).envs(variables.iter().copied()).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ran {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    })
}

#[test]
#[cfg(unix)]
fn an_installed_model_command_needs_no_clone() -> Outcome<()> {
    let prefix = installed("cli-model-installed")?;
    let help = ferrite_of(&prefix, &["model", "--help"], &[])?.success()?;
    assert!(
        help.starts_with("usage: ferrite model") && help.contains("boards (in a clone of Ferrite)"),
        "{help}"
    );
    let model = text_of(&root().join("tests/programs/relax/models/cnn/bytecode.so"));
    let message =
        ferrite_of(&prefix, &["model", &model, "--target", "cortex-m4f"], &[])?.failure(1)?;
    assert!(message.contains("boards need a clone of Ferrite"), "{message}");
    let message = ferrite_of(&prefix, &["model", &model, "--target", "web"], &[])?.failure(1)?;
    assert!(message.contains("a library that is built by FERRITE_WEB"), "{message}");
    let message =
        ferrite_of(&prefix, &["model", &model, "--target", "host"], &[("FERRITE", "/usr")])?;
    assert!(message.failure(1)?.contains("FERRITE=/usr is not a clone of Ferrite"));
    Ok(())
}

#[test]
#[cfg(unix)]
fn an_installed_model_command_finds_the_installed_library() -> Outcome<()> {
    let model = text_of(&root().join("tests/programs/relax/models/cnn/bytecode.so"));
    for folder in [
        "lib",
        "lib64",
        "lib/x86_64-linux-gnu",
        "lib/python3.12/site-packages/ferrite_tvm_ffi.libs",
    ] {
        let prefix = installed("cli-model-project")?;
        let library = prefix.join(folder);
        fs::create_dir_all(&library)?;
        fs::write(library.join("libtvm_ffi.so"), "")?;
        ferrite_of(&prefix, &["model", &model, "--target", "host", "--name", "cnn"], &[])?
            .success()?;
        let script = fs::read_to_string(prefix.join("work/cnn-host/build.sh"))?;
        let expected = format!("\nroot='' installed={}\n", library.display());
        assert!(script.contains(&expected), "{folder}: {script}");
    }
    Ok(())
}

#[test]
fn without_a_command_the_help_is_printed() -> Outcome<()> {
    let printed = ferrite(&[], &[])?.success()?;
    assert!(
        printed.contains("Usage: ferrite [COMMAND]") && printed.contains("  inspect "),
        "{printed}"
    );
    Ok(())
}

// ---- completions and manual pages

#[test]
fn completions_know_every_command() -> Outcome<()> {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let printed = ferrite(&["completions", shell], &[])?.success()?;
        for command in ["inspect", "call", "bench", "check", "stubs", "list", "doctor"] {
            assert!(printed.contains(command), "{shell}: {command}");
        }
    }
    ferrite(&["completions", "no-such-shell"], &[])?.failure(2)?;
    Ok(())
}

#[test]
fn every_command_has_a_manual_page() -> Outcome<()> {
    let folder = scratch("cli-man")?.join("man1");
    ferrite(&["man"], &[&folder])?.success()?;
    for (page, text) in
        [("ferrite", "EXIT STATUS"), ("ferrite-stubs", "pyi"), ("ferrite-bench", "instructions")]
    {
        let written = fs::read_to_string(folder.join(format!("{page}.1")))?;
        assert!(written.contains(text), "{page}: {written}");
    }
    ferrite(&["man", "/dev/null/folder"], &[])?.failure(3)?;
    Ok(())
}

/// As a terminal of 80 columns shows it: the forms of arguments in aligned lines, none of which is
/// broken.
#[test]
#[ignore = "needs groff: ./ci.sh cli"]
fn the_page_of_call_is_readable_in_80_columns() -> Outcome<()> {
    let folder = scratch("cli-man-shown")?.join("man1");
    ferrite(&["man"], &[&folder])?.success()?;
    let page = folder.join("ferrite-call.1");
    let output = Command::new("groff")
        .args(["-man", "-Tutf8", "-P-cbou", "-rLL=80n", "-ww"])
        .arg(&page)
        .output()?;
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for line in [
        "ARGUMENTS OF THE FUNCTION",
        "       3  2.5  true  null  '\"text\"'  any JSON: numbers, booleans, None, strings",
        "       'int64:[1, 2]'                tensor of any data type, such as bfloat16,",
        "                                     int4, float8_e4m3fn, float32x4 (lists of",
        "EXAMPLES",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    Ok(())
}
