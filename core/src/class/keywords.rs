//! Keyword arguments of constructors: after a marker object, names and values alternate.

use crate::call::function::Function;
use crate::error::Result;
use crate::platform::memory::Buffer;
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::{plain_ensure, plain_error};

/// The parameters of a constructor, and the object that separates keyword arguments from positional
/// ones.
pub(super) struct Keywords {
    key: &'static str,
    names: &'static [&'static str],
    /// Object that precedes keyword arguments; None if the library has none.
    marker: Any,
}

impl Keywords {
    /// Describes the parameters of the constructor of the class with this type key.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(key: &'static str, names: &'static [&'static str]) -> Result<Keywords> {
        let marker = match Function::find_global("ffi.GetKwargsObject")? {
            Some(marker) => marker.call_packed(&[])?,
            None => Any::NONE,
        };
        Ok(Keywords { key, names, marker })
    }

    /// Calls `body` with the arguments in the order of the parameters.
    ///
    /// # Errors
    /// TypeError for a keyword that is unknown or has two values, and for a missing argument; the
    /// errors of `body`.
    pub(super) fn bind(
        &self,
        args: &[AnyView<'_>],
        body: impl FnOnce(&[AnyView<'_>]) -> Result<Any>,
    ) -> Result<Any> {
        let is_marker = |arg: &AnyView<'_>| {
            arg.object_ptr().is_some_and(|object| Some(object) == self.marker.view().object_ptr())
        };
        match args.iter().position(is_marker) {
            None => body(args),
            Some(at) => body(&self.bind_pairs(&args[..at], &args[at + 1..])?),
        }
    }

    fn bind_pairs<'a>(
        &self,
        positional: &[AnyView<'a>],
        pairs: &[AnyView<'a>],
    ) -> Result<Buffer<AnyView<'a>>> {
        let mut bound = Buffer::try_with_capacity(self.names.len().max(positional.len()))?;
        positional.iter().try_for_each(|arg| bound.try_push(Some(*arg)))?;
        while bound.len() < self.names.len() {
            bound.try_push(None)?;
        }
        for pair in pairs.chunks_exact(2) {
            let name = pair[0].bytes_of_string().unwrap_or_default();
            let at = self.names.iter().position(|known| known.as_bytes() == name);
            let place = at
                .and_then(|at| bound.get_mut(at))
                .ok_or_else(|| self.refusal("an unexpected keyword", name))?;
            plain_ensure!(
                place.is_none(),
                TYPE_ERROR,
                "{}.__ffi_init__() got multiple values for argument '{}'",
                self.key,
                Lossy(name);
                "two values of '{}'",
                Lossy(name)
            );
            *place = Some(pair[1]);
        }
        let mut args = Buffer::try_with_capacity(bound.len())?;
        for (at, arg) in bound.iter().enumerate() {
            let name = self.names.get(at).copied().unwrap_or_default();
            args.try_push(arg.ok_or_else(|| self.refusal("no value for the", name.as_bytes()))?)?;
        }
        Ok(args)
    }

    #[cold]
    fn refusal(&self, what: &str, name: &[u8]) -> crate::Error {
        plain_error!(
            TYPE_ERROR,
            "{}.__ffi_init__() got {} argument '{}'",
            self.key,
            what,
            Lossy(name);
            "bad argument '{}'",
            Lossy(name)
        )
    }
}
