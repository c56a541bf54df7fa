//! Text summary of an executable: its constants and the names of its functions.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::platform::text::Writer;
use ferrite_core::value::dtype;
use ferrite_core::{Any, ObjectRef, Shape, String, Tensor, plain_ensure};

use super::Program;

impl Program {
    /// Returns the constants and the function names as text.
    ///
    /// # Errors
    /// InternalError for a floating-point constant, which has no representation as text;
    /// MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::Stats` in `src/runtime/vm/executable.cc`.
    pub fn stats(&self) -> Result<String> {
        plain_ensure!(
            self.constants().iter().all(|constant| constant.type_index() != type_index::FLOAT),
            INTERNAL_ERROR,
            "Unsupported constant pool type float"
        );
        String::compose(&|out| {
            out.put(b"Relax VM executable statistics:\n  Constant pool (# ");
            out.put_word(self.constants().len());
            out.put(b"): [");
            separated(self.constants(), out, write_constant);
            out.put(b"]\n  Globals (#");
            out.put_word(self.functions().len());
            out.put(b"): [");
            separated(self.functions(), out, |function, out| out.put(self.name(function)));
            out.put(b"]\n");
        })
    }
}

/// Writes items separated by commas.
fn separated<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a T>,
    out: &mut Writer<'_>,
    write: impl Fn(&'a T, &mut Writer<'_>),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.put(b", ");
        }
        write(item, out);
    }
}

fn write_constant(constant: &Any, out: &mut Writer<'_>) {
    let object = constant.as_object();
    if let Some(text) = constant.as_view().bytes_of_string() {
        out.put(b"\"");
        out.put(text);
        out.put(b"\"");
    } else if let Some(tensor) = object.and_then(ObjectRef::as_class::<Tensor>) {
        if tensor.shape().is_empty() {
            return out.put(b"scalar");
        }
        out.put(b"[");
        separated(tensor.shape(), out, |extent, out| out.put_number(*extent));
        out.put(b"]");
    } else if let Some(shape) = object.and_then(ObjectRef::as_class::<Shape>) {
        // Upstream takes a separator back that is not there if the shape has no extents.
        out.put(if shape.as_slice().is_empty() { b"shapetupl" } else { b"shapetuple[" });
        separated(shape.as_slice(), out, |extent, out| out.put_number(*extent));
        out.put(b"]");
    } else if let Ok(Some(dtype)) = constant.try_get() {
        let _ = dtype::write_dtype(dtype, out);
    } else if let Ok(Some(number)) = constant.try_get::<i64>() {
        out.put_number(number);
    }
}
