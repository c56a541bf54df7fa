//! The call of a function as its parameters see it: name and signature for messages, and the
//! arguments.
#![forbid(unsafe_code)]

use crate::error::kind::TYPE_ERROR;
use crate::error::{Error, Result};
use crate::platform::text::Writer;
use crate::platform::upstream_release;
use crate::value::any::AnyView;
use crate::value::convert::{Param, TargetTexts, TypeText};

/// Use of the elements of a tensor by a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TensorUse {
    /// The parameter borrows no elements, or the function borrows them itself.
    None,
    /// The elements are borrowed for reading until the call ends.
    Read,
    /// The elements are borrowed for writing until the call ends.
    Write,
}

/// Returns the name of a parameter, if there are names. A search for text would link 8 KB of panics
/// and tables into firmware.
fn name_in(names: &str, index: usize) -> Option<&str> {
    let commas = || names.bytes().enumerate().filter(|(_, byte)| *byte == b',').map(|(at, _)| at);
    let start = if index == 0 { 0 } else { commas().nth(index - 1)? + 2 };
    names.get(start..commas().nth(index).unwrap_or(names.len())).filter(|name| !name.is_empty())
}

/// Parameter and result types of a function, for messages and schemas.
pub struct Signature<'a> {
    params: &'a [TargetTexts],
    /// `None` for a packed function, whose schema lists no types.
    result: Option<&'static TypeText>,
}

impl<'a> Signature<'a> {
    /// Signature of packed functions, which accept any arguments.
    pub const PACKED: Signature<'static> = Signature { params: &[], result: None };

    /// Creates the signature of a function with these parameter and result types.
    pub const fn new(params: &'a [TargetTexts], result: &'static TypeText) -> Self {
        Signature { params, result: Some(result) }
    }

    /// Writes the type schema as JSON, in the format that upstream's stub generator reads.
    pub fn write_schema(&self, out: &mut Writer<'_>) {
        const PACKED: TypeText = TypeText::of("", "ffi.Function");
        let Some(result) = &self.result else { return PACKED.write_schema(out) };
        if upstream_release::schemas_have_args() {
            return self.write_args_schema(result, out);
        }
        out.put(b"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[");
        result.write_schema(out);
        out.put(b"],\"params\":[");
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                out.put(b",");
            }
            param.of_type.write_schema(out);
        }
        out.put(b"]}}");
    }

    /// Writes the type schema in the format of upstream releases up to 0.1.14.
    fn write_args_schema(&self, result: &TypeText, out: &mut Writer<'_>) {
        out.put(b"{\"type\":\"ffi.Function\",\"args\":[");
        result.write_schema(out);
        for param in self.params {
            out.put(b",");
            param.of_type.write_schema(out);
        }
        out.put(b"]}");
    }

    /// Writes a call with the names of the parameters, such as `scale(x: int, by: float)`.
    pub(crate) fn write_call(&self, name: &str, names: &str, out: &mut Writer<'_>) {
        out.put(name.as_bytes());
        self.write_params(names, out);
    }

    /// Writes the parameters for messages, such as `(0: int, 1: str)`, or `(x: int, y: str)` if
    /// they have names.
    fn write_params(&self, names: &str, out: &mut Writer<'_>) {
        out.put(b"(");
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                out.put(b", ");
            }
            match name_in(names, index) {
                Some(name) => out.put(name.as_bytes()),
                None => out.put_unsigned(index as u64),
            }
            out.put(b": ");
            param.of_type.write_name(out);
        }
        out.put(b")");
    }

    /// Writes the signature for messages, such as `(0: int, 1: str) -> void`.
    fn write(&self, out: &mut Writer<'_>) {
        self.write_params("", out);
        out.put(b" -> ");
        if let Some(result) = &self.result {
            result.write_name(out);
        }
    }
}

/// The name and signature of a called function, for error messages.
#[derive(Clone, Copy)]
pub struct Callee<'a> {
    /// The name of the function; may be empty.
    pub name: &'a str,
    /// The signature of the function.
    pub signature: &'a Signature<'a>,
    /// The names of the parameters, with `, ` between them; empty if they are unknown.
    pub names: &'a str,
}

impl<'a> Callee<'a> {
    /// Describes a function whose parameters have no names.
    pub const fn new(name: &'a str, signature: &'a Signature<'a>) -> Callee<'a> {
        Callee { name, signature, names: "" }
    }

    /// Returns the name of a parameter, or `argument` if it is unknown.
    pub fn name_of(&self, index: usize) -> &'a str {
        name_in(self.names, index).unwrap_or("argument")
    }

    /// Returns the error of a failed check of an argument. Inserts the index of the argument before
    /// the expected type, as code generated by TVM does, and appends the output of `got`.
    #[cold]
    #[inline(never)]
    pub(crate) fn refused_argument(
        &self,
        index: usize,
        error: &Error,
        got: &dyn Fn(&mut Writer<'_>),
    ) -> Error {
        const EXPECTED: &[u8] = b", expected";
        let message = error.message_bytes();
        let split = message.windows(EXPECTED.len()).position(|text| text == EXPECTED);
        let (problem, expected) = message.split_at(split.unwrap_or(message.len()));
        Error::from_parts(crate::__error_site!(), error.kind_bytes(), &|out| {
            out.put_lossy(problem);
            out.put(b" on argument #");
            out.put_unsigned(index as u64);
            out.put(b" when calling:\n  `");
            self.signature.write_call(self.name, self.names, out);
            out.put(b"`");
            if let Some(expected) = expected.strip_prefix(b", ") {
                out.put(b",\n  ");
                out.put_lossy(expected);
                got(out);
            }
        })
    }

    /// Creates the TypeError of [`wrong_count`](Self::wrong_count). Copies the callee, so the
    /// caller's callee need not be stored in memory until an error occurs.
    #[cfg_attr(feature = "speed", inline(always))]
    pub(crate) fn refused_count(&self, count: usize) -> Error {
        { *self }.wrong_count(count)
    }

    /// Creates the TypeError for an argument of the wrong type at `index`.
    #[cold]
    #[inline(never)]
    pub fn wrong_type(&self, index: usize, view: AnyView<'_>) -> Error {
        let Some(param) = self.signature.params.get(index) else { return self.wrong_count(index) };
        self.refusal(&|out| {
            out.put(b"type on argument #");
            out.put_unsigned(index as u64);
            self.write(out);
            out.put(b"`");
            param.of_type.write_name(out);
            out.put(b"` but got `");
            (param.mismatch)(view, out);
            out.put(b"`");
        })
    }

    /// Creates the TypeError for a call with a wrong number of arguments, `count`.
    #[cold]
    #[inline(never)]
    pub fn wrong_count(&self, count: usize) -> Error {
        self.refusal(&|out| {
            out.put(b"number of arguments");
            self.write(out);
            out.put_unsigned(self.signature.params.len() as u64);
            out.put(b" but got ");
            out.put_unsigned(count as u64);
            out.put(b" arguments");
        })
    }

    fn refusal(&self, write: &dyn Fn(&mut Writer<'_>)) -> Error {
        Error::from_parts(crate::__error_site!(), TYPE_ERROR, &|out| {
            out.put(b"Mismatched ");
            write(out);
        })
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.put(b" when calling: `");
        out.put(self.name.as_bytes());
        self.signature.write(out);
        out.put(b"`. Expected ");
    }
}

/// Callee and arguments of a typed call. Only [`TypedFn`](crate::call::typed::TypedFn) creates one:
/// it borrows the elements of tensor arguments before it converts any argument.
pub struct Call<'a> {
    /// The called function.
    pub(crate) callee: &'a Callee<'a>,
    /// The arguments.
    pub(crate) args: &'a [AnyView<'a>],
}

impl<'a> Call<'a> {
    /// Converts the argument at `index` to `T`. Does not read the other arguments.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; the errors of [`Param::param`].
    #[cfg_attr(feature = "speed", inline(always))]
    pub fn convert<T: Param + ?Sized>(&self, index: usize) -> Result<T::In<'a>> {
        let Some(arg) = self.args.get(index) else {
            return Err(self.callee.refused_count(self.args.len()));
        };
        match T::param(arg)? {
            Some(value) => Ok(value),
            // A copy: where this is inlined, only the error path then stores the callee in memory.
            None => Err({ *self.callee }.wrong_type(index, *arg)),
        }
    }

    /// Creates the TypeError for a parameter whose type accesses tensor elements differently from
    /// the access for which the argument was borrowed.
    #[cold]
    #[inline(never)]
    pub(crate) fn wrong_use(&self, index: usize) -> Error {
        let view = self.args.get(index).map_or(AnyView::NONE, |view| *view);
        self.callee.wrong_type(index, view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::typed::signature_of;

    #[test]
    fn schemas_of_earlier_releases_have_the_result_before_the_parameters() -> Result<()> {
        let signature = signature_of(&|_: Option<i64>, _: crate::String| {});
        let result = signature.result.expect("a result");
        assert_eq!(
            crate::String::compose(&|out| signature.write_args_schema(result, out))?,
            r#"{"type":"ffi.Function","args":[{"type":"None"},{"type":"Optional","args":[{"type":"int"}]},{"type":"ffi.String"}]}"#
        );
        Ok(())
    }
}
