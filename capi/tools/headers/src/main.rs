//! Writes the C headers of `include/` from the Rust sources, or checks that they are up to date.
//!
//! `ferrite-headers` writes the headers. `ferrite-headers --check` compares them, and fails if one
//! differs.

mod render;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

/// A generated header: its path, its cbindgen configuration, and its source files in order.
struct Header {
    path: &'static str,
    config: &'static str,
    sources: &'static [&'static str],
}

const HEADERS: &[Header] = &[
    Header {
        path: "include/dlpack/dlpack.h",
        config: "capi/headers/dlpack.toml",
        sources: &["core/src/abi/dlpack.rs"],
    },
    Header {
        path: "include/tvm/ffi/c_api.h",
        config: "capi/cbindgen.toml",
        sources: &[
            "core/src/abi/any.rs",
            "core/src/abi/object.rs",
            "core/src/abi/cells.rs",
            "core/src/abi/reflection.rs",
            "capi/src/object.rs",
            "capi/src/allocator.rs",
            "capi/src/function.rs",
            "capi/src/error.rs",
            "capi/src/tensor.rs",
            "capi/src/string.rs",
            "capi/src/bigint.rs",
            "capi/src/dtype.rs",
            "capi/src/type_info.rs",
            "capi/src/backtrace.rs",
            "capi/src/init_once.rs",
        ],
    },
    Header {
        path: "include/tvm/ffi/extra/c_env_api.h",
        config: "capi/headers/c_env_api.toml",
        sources: &["capi/src/env.rs", "capi/src/module.rs"],
    },
    Header {
        path: "include/tvm/runtime/c_backend_api.h",
        config: "capi/headers/c_backend_api.toml",
        sources: &["core/src/abi/backend.rs", "capi/src/backend.rs"],
    },
    Header {
        path: "include/tvm/runtime/c_runtime_api.h",
        config: "capi/headers/c_runtime_api.toml",
        sources: &[
            "core/src/abi/packed/mod.rs",
            "capi/legacy/src/error.rs",
            "capi/legacy/src/registry.rs",
            "capi/legacy/src/call.rs",
            "capi/legacy/src/callback.rs",
            "capi/legacy/src/array.rs",
            "capi/legacy/src/module.rs",
            "capi/legacy/src/object.rs",
            "capi/legacy/src/device.rs",
            "capi/legacy/src/backend.rs",
        ],
    },
    Header {
        path: "include/tvm/runtime/crt/func_registry.h",
        config: "capi/headers/func_registry.toml",
        sources: &["capi/legacy/microtvm/src/registry.rs"],
    },
    Header {
        path: "include/tvm/runtime/crt/module.h",
        config: "capi/headers/module.toml",
        sources: &["capi/legacy/microtvm/src/module.rs"],
    },
    Header {
        path: "include/tvm/runtime/crt/stack_allocator.h",
        config: "capi/headers/stack_allocator.toml",
        sources: &["capi/legacy/microtvm/src/stack.rs"],
    },
    Header {
        path: "include/tvm_ffi_platform.h",
        config: "capi/headers/platform.toml",
        sources: &[
            "core/src/platform/hooks/symbols.rs",
            "capi/src/platform/hooks.rs",
            "capi/src/platform/firmware.rs",
            "capi/src/platform/workspace.rs",
        ],
    },
    Header {
        path: "include/tvm_ffi_model.h",
        config: "capi/headers/model.toml",
        sources: &[
            "targets/relax/src/model/kernels.rs",
            "capi/src/model/mod.rs",
            "capi/src/model/system_library.rs",
            "capi/src/model/description.rs",
            "capi/src/model/parameters.rs",
            "capi/src/model/measurement.rs",
        ],
    },
    Header {
        path: "include/tvm_ffi_rpc.h",
        config: "capi/headers/rpc.toml",
        sources: &["capi/src/rpc.rs"],
    },
    Header {
        path: "include/tvm_ffi_minimal.h",
        config: "capi/headers/minimal.toml",
        sources: &["capi/minimal/src/firmware.rs"],
    },
];

fn main() -> ExitCode {
    let check = env::args().any(|argument| argument == "--check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    match run(&root, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ferrite-headers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes or checks all headers. Returns `true` if all are up to date.
fn run(root: &Path, check: bool) -> io::Result<bool> {
    let mut up_to_date = true;
    for header in HEADERS {
        let text = generate(root, header)?;
        let target = root.join(header.path);
        if !check {
            fs::create_dir_all(target.parent().unwrap_or(root))?;
            fs::write(&target, text)?;
            println!("wrote {}", header.path);
        } else if fs::read_to_string(&target).unwrap_or_default() != text {
            eprintln!("{} differs from the sources: generate it again", header.path);
            up_to_date = false;
        }
    }
    Ok(up_to_date)
}

fn generate(root: &Path, header: &Header) -> io::Result<String> {
    let config = cbindgen::Config::from_file(root.join(header.config)).map_err(io::Error::other)?;
    let scratch = source::prepare(root, header.sources)?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in &scratch.files {
        builder = builder.with_src(PathBuf::from(file));
    }
    let bindings = builder.generate().map_err(io::Error::other)?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok(render::finish(&text))
}
