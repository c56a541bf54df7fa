//! Tests forks at arbitrary moments: a child performs every operation although a thread of its
//! parent was active during the fork. Also tests that the fork handlers list every lock.
//!
//! `FORKS` is the number of forks for each kind of activity, 100 by default. `./ci.sh forks` runs
//! 10,000.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

#[path = "../watchdog/watchdog.rs"]
mod watchdog;
#[path = "../watchdog/tests.rs"]
mod watchdog_tests;

use ferrite_tests::{Cc, Library, Outcome, output_of, program, root, scratch};
use std::path::{Path, PathBuf};

/// Runs `forks.c` with a kernel library of its own, since other tests may relink theirs meanwhile.
fn run(executable: &Path, arguments: &[&str]) -> Outcome<()> {
    let kernels = Cc::shared(executable.with_extension("kernels.so")).strict();
    let kernels = kernels.source(root().join("tests/conformance/c/kernels.c")).link()?;
    let count = std::env::var("FORKS").unwrap_or("100".into());
    let mut command = program(executable);
    command
        .arg(count)
        .args(arguments)
        .env("CHECK_KERNELS", kernels)
        .env_remove("TVM_TRACEBACK_LIMIT");
    print!("{}", output_of(&mut command)?);
    Ok(())
}

fn compile(name: &str, link: impl FnOnce(Cc, &Library) -> Outcome<PathBuf>) -> Outcome<PathBuf> {
    let cc = Cc::program(scratch("forks")?.join(name)).strict().args(["-pthread"]);
    link(cc.source(root().join("tests/robustness/forks/forks.c")), Library::get()?)
}

#[test]
fn children_do_everything_whatever_their_parent_was_doing() -> Outcome<()> {
    run(&compile("shared", Cc::link_shared)?, &[])
}

/// Runs a program linked with the archive, whose constructors must run as well.
#[test]
fn children_of_static_programs_do_everything() -> Outcome<()> {
    run(&compile("static", Cc::link_static)?, &["functions"])
}

/// Runs a Rust program that links the crates, without calling an install function.
mod rust_programs {
    use ferrite_core::Function;
    use ferrite_core::names::global_table;
    use std::sync::atomic::{AtomicBool, Ordering};

    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }

    fn register(name: &str) -> bool {
        let outcome = Function::from_typed(|| 1i64).and_then(|function| {
            global_table::set_with_docs(name.as_bytes(), &function, b"doc", b"{}", true)
        });
        outcome.is_ok() && global_table::get(name.as_bytes()).is_ok_and(|found| found.is_some())
    }

    #[test]
    fn children_register_functions() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let worker = std::thread::spawn(|| {
            let mut round = 0;
            while !STOP.load(Ordering::Relaxed) {
                round += 1;
                assert!(register(&format!("forks.worker.{}", round % 5000)));
            }
        });
        for round in 0..500 {
            // SAFETY: the child registers a function and exits; a hanging child is ended by its
            // watchdog.
            let status = unsafe {
                let child = fork();
                if child == 0 {
                    super::watchdog::watchdog(30);
                    _exit(i32::from(!register("forks.child")));
                }
                let mut status = -1;
                assert_eq!(waitpid(child, &mut status, 0), child);
                status
            };
            assert_eq!(status, 0, "the child of round {round}: wait status {status:#x}");
        }
        STOP.store(true, Ordering::Relaxed);
        assert!(worker.join().is_ok());
    }
}

/// Path prefixes of files whose locks need not be held across a fork, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("core/src/platform/sync/", "what locks are made of"),
    ("core/src/error/log/bare.rs", "only without std"),
    ("core/src/call/backend/workspace/bare.rs", "only without std"),
    ("alloc-ext/src/env/stream/bare.rs", "only without std"),
    ("alloc-ext/src/containers/faults.rs", "only in tests"),
    ("core/src/names/name_table/names.rs", "part of each table, whose static is listed"),
    ("targets/host/src/thread_pool/futex/other.rs", "only without futexes"),
    ("targets/host/src/thread_pool/system/other.rs", "only on systems other than Linux"),
    (
        "targets/host/src/dynamic_lib/program_symbols/",
        "symbols in read-only tables, found without a lock",
    ),
    ("targets/gpu/src/open_once.rs", "after begin_use: a child gets an error"),
    ("targets/gpu/src/module/loading.rs", "after begin_use"),
    ("targets/gpu/src/allocation/", "only of an open device"),
    ("targets/gpu/src/cuda/cublaslt/context.rs", "only of an open device"),
    ("targets/gpu/src/cuda/platform.rs", "after begin_use"),
    ("targets/gpu/src/cuda/device.rs", "only of an open driver"),
    ("targets/gpu/src/cuda/kernel.rs", "only of a loaded module"),
    ("targets/gpu/src/opencl/platform.rs", "after begin_use"),
    ("targets/gpu/src/opencl/kernel.rs", "only of a loaded module"),
    ("targets/gpu/src/vulkan/", "after begin_use, or only of an open driver"),
    ("targets/gpu/src/webgpu/adapter.rs", "after begin_use"),
    ("targets/gpu/src/webgpu/buffers.rs", "only for an open device"),
    ("targets/gpu/src/webgpu/event.rs", "only for an open device"),
    ("targets/gpu/src/webgpu/failure.rs", "only of an open device"),
    ("targets/gpu/src/webgpu/staging.rs", "only of an open device"),
    ("targets/gpu/src/metal/apple/", "only of an open device"),
    ("targets/gpu/src/workspace.rs", "only of an open device"),
    ("targets/rpc/src/client/session.rs", "only in the process that connected"),
    ("targets/rpc/src/client/module.rs", "only in the process that connected"),
];

/// Lock types, as spelled in declarations.
const LOCKS: &[&str] = &[
    "Mutex",
    "Lock",
    "RwLock",
    "ReentrantLock",
    "Once",
    "OnceLock",
    "LazyLock",
    "Condvar",
    "Barrier",
    "NameTable",
    "SymbolTable",
];

/// Returns `true` if `text` contains `word` as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part =
        |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
    text.match_indices(word).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

/// Returns the lock declarations in a source that `listed` does not name: statics, and fields of
/// types that contain a lock.
fn unlisted_locks(source: &str, listed: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let declares = |line: &&str| {
        let line = line.trim_start();
        let is_static =
            line.contains("static ") && line.contains(": ") && !line.contains("&'static ");
        let is_field = !line.starts_with("//")
            && !line.contains("fn ")
            && !line.contains("impl<")
            && !line.starts_with("use ")
            && !line.contains("type ")
            && (line.contains(": ") || line.contains("struct "));
        let declared = line.split_once(": ").map_or(line, |(_, declared)| declared);
        let declared = declared.split(" = ").next().unwrap_or(declared);
        (is_static || is_field)
            && !declared.starts_with('&')
            && LOCKS.iter().any(|lock| has_word(declared, lock) && !declared.contains("::new"))
    };
    let name = |line: &str| {
        let before = line.split(':').next().unwrap_or_default();
        before.split_whitespace().next_back().unwrap_or_default().to_owned()
    };
    let names = code.lines().filter(declares).map(name);
    names.filter(|name| name.is_empty() || !has_word(listed, name)).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Outcome<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_test = name == "tests" || name.ends_with("tests.rs") || name == "testing.rs";
        if path.is_dir() && !is_test {
            sources(&path, found)?;
        } else if name.ends_with(".rs") && !is_test {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn every_lock_is_listed() -> Outcome<()> {
    let mut forgotten = Vec::new();
    for (list, folders) in [
        ("core/src/forks.rs", &["core/src"][..]),
        ("alloc-ext/src/forks.rs", &["alloc-ext/src"]),
        ("targets/gpu/src/forks.rs", &["targets/gpu/src"]),
        ("targets/rpc/src/client/forks.rs", &["targets/rpc/src"]),
        (
            "targets/host/src/forks.rs",
            &[
                "targets/host/src",
                "targets/relax/src",
                "capi/src",
                "capi/boundary/src",
                "capi/cxx/src",
            ],
        ),
        ("capi/legacy/src/forks.rs", &["capi/legacy/src"]),
    ] {
        let listed = std::fs::read_to_string(root().join(list))?;
        let mut files = Vec::new();
        for folder in folders {
            sources(&root().join(folder), &mut files)?;
        }
        for path in files {
            let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
            if !EXCEPTIONS.iter().any(|(beginning, _)| name.starts_with(beginning)) {
                let source = std::fs::read_to_string(&path)?;
                forgotten.extend(
                    unlisted_locks(&source, &listed)
                        .into_iter()
                        .map(|lock| format!("{name}: {lock}")),
                );
            }
        }
    }
    if forgotten.is_empty() {
        return Ok(());
    }
    Err(format!(
        "locks that no forks.rs lists, so that forked children may wait for them for ever: {forgotten:#?}"
    )
    .into())
}

#[test]
fn a_lock_that_is_not_listed_is_found() {
    let listed = "&module::KNOWN, &TABLE,";
    for (source, expected) in [
        ("static KNOWN: Mutex<u8> = Mutex::new(0);", &[][..]),
        ("pub(crate) static TABLE: NameTable<Slot> = NameTable::new();", &[]),
        ("    static RUNTIME: OnceLock<F> = OnceLock::new();", &["RUNTIME"]),
        ("static NEW: std::sync::Mutex<u8> =\n    std::sync::Mutex::new(0);", &["NEW"]),
        ("struct S {\n    state: Mutex<u8>,\n    borrowed: &'a Mutex<u8>,\n}", &["state"]),
        ("/// A Mutex: of these.\nfn lock(m: Mutex<u8>) {}\nlet guard: ObjectMutex<u8> = x;", &[]),
        ("#[cfg(test)]\nmod tests {\n    static SEEN: Mutex<u8> = Mutex::new(0);", &[]),
    ] {
        assert_eq!(unlisted_locks(source, listed), expected, "{source}");
    }
}
