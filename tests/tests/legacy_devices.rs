//! Tests device modules in libraries of TVM 0.5 to 0.20, and the functions of those releases for
//! arrays on devices.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch, stand_in_unless_real};
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources() -> PathBuf {
    root().join("tests/conformance/legacy")
}

/// Byte stream under construction.
#[derive(Clone, Default)]
struct Stream(Vec<u8>);

impl Stream {
    fn word(mut self, word: u64) -> Stream {
        self.0.extend(word.to_le_bytes());
        self
    }

    fn bytes(self, bytes: &[u8]) -> Stream {
        let mut stream = self.word(bytes.len() as u64);
        stream.0.extend(bytes);
        stream
    }

    fn raw(mut self, bytes: &[u8]) -> Stream {
        self.0.extend(bytes);
        self
    }
}

/// Returns the payload of a module with `add_one_kernel` in the form of those releases, which ends
/// after the tags.
fn payload(format: &str, code: &[u8]) -> Stream {
    let name = b"add_one_kernel";
    let handle = [3, 64, 1, 0];
    Stream::default()
        .bytes(format.as_bytes())
        .word(1)
        .bytes(name)
        .bytes(name)
        .word(2)
        .raw(&handle)
        .raw(&handle)
        .word(2)
        .bytes(b"blockIdx.x")
        .bytes(b"threadIdx.x")
        .bytes(code)
}

/// Returns the embedded modules: a flat list (0.5, 0.6), or a tree in which the library imports the
/// device module.
fn blob(kind: &str, payload: &Stream, has_tree: bool) -> Vec<u8> {
    let device = Stream::default().bytes(kind.as_bytes()).raw(&payload.0);
    let modules = if has_tree {
        let tree = Stream::default()
            .bytes(b"_import_tree")
            .word(3)
            .word(0)
            .word(1)
            .word(1)
            .word(1)
            .word(1);
        Stream::default().word(3).bytes(b"_lib").raw(&device.0).raw(&tree.0)
    } else {
        Stream::default().word(1).raw(&device.0)
    };
    Stream::default().bytes(&modules.0).0
}

fn library(folder: &Path, name: &str, blob: &[u8]) -> Outcome<PathBuf> {
    let file = folder.join(name).with_extension("blob");
    std::fs::write(&file, blob)?;
    let library = Cc::shared(folder.join(name).with_extension("so"));
    library
        .args(["-std=gnu99".into(), format!("-DBLOB=\"{}\"", file.display())])
        .source(sources().join("old_device.c"))
        .link()
}

/// Runs the program with a library for each payload, and with one whose payload is truncated.
fn run(kind: &str, device_type: &str, driver: Option<PathBuf>, payloads: &[Stream]) -> Outcome<()> {
    let folder = scratch(&format!("legacy-devices/{kind}"))?;
    let program = Cc::program(folder.join("devices")).strict().source(sources().join("devices.c"));
    let program = program.link_shared(Library::with_legacy_and_gpu()?)?;
    let whole = blob(kind, &payloads[0], true);
    let mut early = whole.clone();
    early.truncate(whole.len() / 2);
    early[..8].copy_from_slice(&(whole.len() as u64 / 2 - 8).to_le_bytes());
    let broken = [
        library(&folder, "early", &early)?,
        library(&folder, "unknown", &blob("stackvm", &payloads[0], true))?,
        library(
            &folder,
            "no_format",
            &blob(kind, &Stream::default().bytes(b"").word(0).bytes(b"x"), false),
        )?,
    ];
    for (number, payload) in payloads.iter().enumerate() {
        for has_tree in [true, false] {
            let name = format!("good{number}{has_tree}");
            let good = library(&folder, &name, &blob(kind, payload, has_tree))?;
            let mut command = Command::new(&program);
            if let Some(folder) = &driver {
                command.env("LD_LIBRARY_PATH", folder);
            }
            let report = output_of(command.arg(device_type).arg(good).args(&broken))?;
            println!("{report}");
            assert!(report.contains(" 0 failed"), "{report}");
        }
    }
    Ok(())
}

/// Runs OpenCL source with a comment line for each kernel, as in 0.8 and later, and without.
#[test]
#[ignore = "needs a driver of OpenCL: ./ci.sh legacy"]
fn opencl() -> Outcome<()> {
    let source = "__kernel void add_one_kernel(__global float* restrict x, __global float* restrict y) {\n  \
                  int i = get_group_id(0) * 64 + get_local_id(0);\n  y[i] = x[i] + 1.000000e+00f;\n}\n";
    let titled = format!("// Function: add_one_kernel\n{source}");
    run("opencl", "4", None, &[payload("cl", titled.as_bytes()), payload("cl", source.as_bytes())])
}

/// Runs the code of the current fixture, in a module that declares one of its kernels.
#[test]
#[ignore = "builds the library again: ./ci.sh legacy"]
fn cuda() -> Outcome<()> {
    let driver = stand_in_unless_real("cuda", "libcuda.so.1", &["/dev/nvidia0", "/dev/dxg"])?;
    let fixture = std::fs::read(root().join("tests/programs/device/payloads/cuda_ptx.bin"))?;
    // The code comes last, after its length.
    let begins = (0..fixture.len() - 8).rev().find(|at| {
        let length = fixture[*at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        length > 1000 && *at as u64 + 8 + length == fixture.len() as u64
    });
    let begins = begins.ok_or_else(|| String::from("the fixture has no code"))?;
    run("cuda", "2", driver, &[payload("ptx", &fixture[begins + 8..])])
}
