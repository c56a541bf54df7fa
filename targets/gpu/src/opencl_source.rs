//! TVM's OpenCL source: one string with a program for each kernel.
//!
//! A line `// Function: NAME` begins the program of a kernel, which extends to the next such line.
//! Text before the first such line is dropped.
#![forbid(unsafe_code)]

use core::ops::Range;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure};

use crate::payload::Payload;

const TITLE: &[u8] = b"// Function: ";

/// Splits source into programs. Returns spans of the code in the order of the kernels.
///
/// # Errors
/// InternalError if a kernel has no program or more than one, or if a program belongs to no kernel;
/// MemoryError.
pub fn split(payload: &Payload) -> Result<Buffer<Range<usize>>> {
    let code = payload.code();
    let mut programs: Buffer<Option<Range<usize>>> = Buffer::new();
    for _ in payload.kernels() {
        programs.try_push(None)?;
    }
    let mut title = find(code, 0);
    plain_ensure!(
        title.is_some() || programs.is_empty(),
        INTERNAL_ERROR,
        "The OpenCL module expects a kernel delimited source from code generation, but no kernel delimiter was found."
    );
    while let Some(start) = title {
        let after = start + TITLE.len();
        let end_of_line = code[after..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(code.len(), |len| after + len);
        let name = code[after..end_of_line].trim_ascii_end();
        let begin = (end_of_line + 1).min(code.len());
        title = find(code, begin);
        let program = begin..title.unwrap_or(code.len());
        let Some(index) = payload.find(name) else {
            plain_bail!(
                INTERNAL_ERROR,
                "The OpenCL source has a program for {}, which is not a kernel",
                name
            );
        };
        let is_first = programs[index].replace(program).is_none();
        plain_ensure!(is_first, INTERNAL_ERROR, "The OpenCL source has two programs for {}", name);
    }
    let mut found = Buffer::try_with_capacity(programs.len())?;
    for (index, program) in programs.as_mut_slice().iter_mut().enumerate() {
        match program.take() {
            Some(program) => found.try_push(program)?,
            None => {
                let name = payload.name_of(&payload.kernels()[index]);
                plain_bail!(
                    INTERNAL_ERROR,
                    "The OpenCL source has no program for the kernel {}",
                    name
                )
            }
        }
    }
    Ok(found)
}

/// Returns the offset of the next title line (`// Function: NAME`).
fn find(code: &[u8], from: usize) -> Option<usize> {
    code.get(from..)?.windows(TITLE.len()).position(|window| window == TITLE).map(|at| from + at)
}
