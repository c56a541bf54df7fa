//! Lists the files of the program behind `ferrite model`, which the command contains.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Headers of projects, in `data/include`.
const HEADERS: [&str; 3] = ["tvm_ffi_model.h", "tvm/ffi/c_api.h", "dlpack/dlpack.h"];
/// Linker of modules for web pages, which the wheel has, too.
const LINKER: &str = "ferrite_tvm_ffi_web.py";
/// Folders of `data/model` that are not a part of the program.
const LEFT_OUT: [&str; 2] = ["plan", "__pycache__"];

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("data");
    let mut files = Vec::new();
    find(&data, "model", "targets/model", &mut files)?;
    find(&data, "firmware", "targets/boards/firmware", &mut files)?;
    find(&data, "web", "targets/web/npm/src", &mut files)?;
    files.push((format!("targets/host/python/{LINKER}"), data.join(LINKER)));
    for header in HEADERS {
        files.push((format!("include/{header}"), data.join("include").join(header)));
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, source) in files {
        println!("cargo::rerun-if-changed={}", source.display());
        writeln!(list, "({name:?}, include_str!({source:?})),")?;
    }
    list.push_str("]\n");
    let output = Path::new(&std::env::var("OUT_DIR")?).join("model_files.rs");
    Ok(std::fs::write(output, list)?)
}

/// Adds the files of a folder of `data`, with their names in a clone.
fn find(
    data: &Path,
    folder: &str,
    in_clone: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", data.join(folder).display());
    for entry in std::fs::read_dir(data.join(folder))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (inner, named) = (format!("{folder}/{name}"), format!("{in_clone}/{name}"));
        if path.is_dir() {
            if !LEFT_OUT.contains(&name.as_str()) {
                find(data, &inner, &named, files)?;
            }
        } else if !is_test(&name) && inner != "model/README.md" {
            files.push((named, path));
        }
    }
    Ok(())
}

/// Returns `true` for tests of the program, and for files that Python or an editor leaves.
fn is_test(name: &str) -> bool {
    name.ends_with("tests.py") || name == "hostile.py" || name.starts_with('.')
}
