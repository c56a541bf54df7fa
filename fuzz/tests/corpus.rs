//! Replays the kept inputs of the fuzz targets without libFuzzer, so that Miri can run them.
//!
//! `CORPUS_INPUTS` limits the number of inputs of each target, which are then taken at a fixed
//! stride. Not here: `c_symbols`, whose library opens shared objects and walks the stack, which
//! Miri cannot.

use std::path::{Path, PathBuf};

use ferrite_fuzz::targets;

/// Returns the kept inputs of a target, by name.
fn kept(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus").join(target);
    let entries = std::fs::read_dir(&folder)
        .expect("`fuzz/corpus.py unpack` has written the inputs of the target");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Runs a target on its kept inputs.
fn replay(target: &str, run: fn(&[u8])) {
    let files = kept(target);
    let most =
        std::env::var("CORPUS_INPUTS").map_or(files.len(), |most| most.parse().expect("a number"));
    let chosen = files.iter().step_by(files.len().div_ceil(most).max(1));
    println!("{target}: {} of {} inputs", chosen.len(), files.len());
    assert!(chosen.len() > 0, "no inputs");
    for file in chosen {
        run(&std::fs::read(file).expect("an input is readable"));
    }
}

macro_rules! targets {
    ($($target:ident)*) => {
        /// Names of the targets.
        const TARGETS: &[&str] = &[$(stringify!($target)),*];

        $(#[test]
        fn $target() {
            replay(stringify!($target), targets::$target::run);
        })*
    };
}

targets! {
    device_payload
    dlpack_import
    dtype_text
    graph_text
    json_text
    library_bin
    map_operations
    packed_calls
    relax_executable
    rpc_client
    rpc_handshake
    rpc_session
    rpc_tracker
}

#[test]
fn every_target_is_replayed_or_left_out_with_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut names: Vec<_> =
        paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_string())).collect();
    names.sort();
    names.retain(|name| name != "c_symbols");
    assert_eq!(names, TARGETS);
}
