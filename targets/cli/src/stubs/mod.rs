//! `ferrite stubs`: declarations of a library's functions and classes for Python, C and Rust.
//!
//! | file | does |
//! |---|---|
//! | `api` | the functions and classes to declare, without the target language |
//! | `source` | reads them from a library or a Python package, in a child process |
//! | `names` | distinct names in a scope |
//! | `quote` | names and documentation as comments and literals |
//! | `python` | `.pyi` files |
//! | `c` | headers in C89 |
//! | `rust` | modules on `ferrite-ffi` or `ferrite-ffi-sys` |

mod api;
mod c;
mod names;
mod python;
mod quote;
mod rust;
mod source;

use crate::arguments::Stubs;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Runs the command.
pub fn run(options: &Stubs) -> Outcome<()> {
    let api = source::read(&options.source)?;
    let text = match () {
        () if options.c => c::render_header(&api),
        () if options.rust => rust::render_module(&api),
        () if options.json => return output::print_json(&api),
        () => python::render_stub(&api),
    };
    match &options.output {
        None => output::print(&text),
        Some(file) => std::fs::write(file, text)
            .map_err(|error| Failure::input(format!("cannot write {}: {error}", file.display()))),
    }
}
