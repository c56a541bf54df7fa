//! Errors: kind, message, backtrace, cause and context, in an object that C reads in place.

#[cfg(not(feature = "client"))]
mod block;
#[cfg(feature = "client")]
#[path = "error/client.rs"]
mod record;
#[cfg(not(feature = "client"))]
#[path = "error/record.rs"]
mod record;
mod refused;
mod site;
mod static_error;
#[cfg(not(any(feature = "std", feature = "client")))]
pub(crate) use refused::refused_of;
mod trace;

use core::fmt::{self, Write};
use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject};
use crate::any::{Any, AnyView};
use crate::convert::AnyCompatible;
use crate::memory::AllocError;
use crate::message::{Arg, Template};
use crate::object::{self, ObjectClass, ObjectRef};
use crate::text::{Lossy, Writer};
use crate::{release, type_index};

pub use site::{Site, SourceLocation};

/// The kinds of errors that the library raises. Users may raise errors of any other kind.
pub mod kind {
    /// The kind of errors about a value of the wrong type.
    pub const TYPE_ERROR: &str = "TypeError";
    /// The kind of errors about a value of the right type that makes no sense.
    pub const VALUE_ERROR: &str = "ValueError";
    /// The kind of errors about an index out of bounds.
    pub const INDEX_ERROR: &str = "IndexError";
    /// The kind of errors about a missing key.
    pub const KEY_ERROR: &str = "KeyError";
    /// The kind of errors about a missing attribute.
    pub const ATTRIBUTE_ERROR: &str = "AttributeError";
    /// The kind of errors about anything else that went wrong outside the library.
    pub const RUNTIME_ERROR: &str = "RuntimeError";
    /// The kind of errors about a failed check inside the library.
    pub const INTERNAL_ERROR: &str = "InternalError";
    /// The kind of errors about refused memory.
    pub const MEMORY_ERROR: &str = "MemoryError";

    /// All of them, each with a zero behind it; templates of messages hold the place of theirs.
    pub(crate) static ALL: &[u8] =
        b"TypeError\0ValueError\0IndexError\0KeyError\0AttributeError\0RuntimeError\0\
        InternalError\0MemoryError\0";

    /// The place of a kind among all.
    pub(crate) const fn place(kind: &str) -> u8 {
        let mut place = 0;
        while !is_at(place, kind.as_bytes()) {
            place += 1;
        }
        place as u8
    }

    const fn is_at(place: usize, kind: &[u8]) -> bool {
        let mut same = 0;
        while same < kind.len() && ALL[place + same] == kind[same] {
            same += 1;
        }
        same == kind.len() && ALL[place + same] == 0 && (place == 0 || ALL[place - 1] == 0)
    }
}

/// The result of what can fail.
pub type Result<T> = core::result::Result<T, Error>;

crate::object_class! {
    @bare
    /// A reference to an error object.
    ///
    /// # Upstream
    /// `tvm::ffi::Error` in `error.h`.
    pub struct Error, type_index::ERROR, "ffi.Error"
}

crate::any_from!(Error);

// SAFETY: view and into_any hand out the reference that the value holds.
unsafe impl AnyCompatible for Error {
    crate::any_texts!(<Error as ObjectClass>::TYPE_KEY, <Error as ObjectClass>::TYPE_KEY);

    fn view(&self) -> AnyView<'_> {
        object::view_object(self)
    }

    /// The error as a value; functions that return errors instead of raising them show its backtrace, too.
    fn into_any(mut self) -> Any {
        self.complete_backtrace();
        object::own_object(self)
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Error>> {
        Ok(object::object_of(view))
    }
}

/// Makes an [`Error`]: `error!(VALUE_ERROR, "expected {} items", n)`. Any expression of type `&str` serves as kind, too.
#[macro_export]
macro_rules! error {
    ($kind:ident, $($message:tt)+) => {
        $crate::error::Error::at($crate::__error_site!(), $crate::error::kind::$kind, ::core::format_args!($($message)+))
    };
}

/// Returns an [`Error`] from the function: `bail!(VALUE_ERROR, "expected {} items", n)`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::error!($kind, $($message)+))
    };
}

/// Returns an [`Error`] unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($kind, $($message)+);
        }
    };
}

/// The MemoryError for a request of `asked_bytes`, with that number in the message when there is memory for a message.
#[cold]
#[inline(never)]
pub fn out_of_memory(asked_bytes: usize) -> Error {
    refused::refused(asked_bytes)
}

/// Makes an error without a backtrace, whose message `write` writes, twice alike; None when there is no memory for it.
fn compose(kind: &[u8], write: &dyn Fn(&mut Writer<'_>)) -> Option<Error> {
    let mut count = Writer::new(&mut []);
    write(&mut count);
    let mut draft = record::Draft::new(kind, count.wanted)?;
    write(&mut Writer::new(draft.message()));
    draft.finish()
}

/// The MemoryError of a refused allocation.
impl From<AllocError> for Error {
    #[inline]
    fn from(refused: AllocError) -> Error {
        out_of_memory(refused.bytes())
    }
}

/// As [`compose`], for an error of this library that was made at `site`. It gets its backtrace when it is raised.
fn compose_at(site: Site, kind: &[u8], write: &dyn Fn(&mut Writer<'_>)) -> Error {
    match compose(kind, write) {
        Some(error) => {
            error.set_site(site);
            error
        }
        None => static_error::out_of_memory(),
    }
}

impl Error {
    /// Makes an error. Never fails: when memory is refused, the result is the static MemoryError.
    ///
    /// It gets its backtrace when it is raised: the calls that led to the library.
    #[cold]
    pub fn new(kind: &str, message: fmt::Arguments<'_>) -> Error {
        Error::at(Site::UNKNOWN, kind, message)
    }

    /// Makes an error as [`Error::new`] does, whose backtrace begins with `site`.
    #[cold]
    pub fn at(site: Site, kind: &str, message: fmt::Arguments<'_>) -> Error {
        // A Display that fails leaves the text that it wrote until then.
        let write = |out: &mut Writer<'_>| {
            let _ = out.write_fmt(message);
        };
        compose_at(site, kind.as_bytes(), &write)
    }

    /// Makes an error as [`Error::at`] does, from a template with `N` places. For [`plain_error!`](crate::plain_error).
    #[doc(hidden)]
    #[inline(always)]
    pub fn plain<const N: usize>(site: Site, template: Template, args: &[Arg<'_>; N]) -> Error {
        Error::of_template(site, template, args.as_ptr())
    }

    #[cold]
    #[inline(never)]
    fn of_template(site: Site, template: Template, args: *const Arg<'_>) -> Error {
        // SAFETY: the macros that make templates count places and arguments.
        let write = move |out: &mut Writer<'_>| unsafe { template.write(args, out) };
        compose_at(site, template.kind(), &write)
    }

    /// Makes an error with this backtrace, from bytes of any encoding. Same fallback as [`Error::new`].
    ///
    /// # Upstream
    /// `TVMFFIErrorCreate`.
    pub fn from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Error {
        Error::try_from_bytes(kind, message, backtrace).unwrap_or_else(static_error::out_of_memory)
    }

    /// Makes an error with this backtrace, from bytes of any encoding; None when memory is refused.
    pub fn try_from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Option<Error> {
        let error = compose(kind, &|out| out.put(message))?;
        if record::KEEPS_BACKTRACES && !backtrace.is_empty() {
            // SAFETY: nobody else knows the error yet.
            unsafe { error.set_backtrace(backtrace, false) };
        }
        Some(error)
    }

    /// Makes an error as [`Error::try_from_bytes`] does, with references to the error that caused it and to its extra
    /// context. The cause keeps the backtrace that it has: it is only lent, and others may be reading it.
    ///
    /// # Upstream
    /// `TVMFFIErrorCreateWithCauseAndExtraContext`.
    pub fn with_causes(
        kind: &[u8],
        message: &[u8],
        backtrace: &[u8],
        cause: Option<&Error>,
        context: Option<&ObjectRef>,
    ) -> Option<Error> {
        let error = Error::try_from_bytes(kind, message, backtrace)?;
        let owned =
            |object: Option<&ObjectRef>| object.cloned().map_or(ptr::null_mut(), |it| it.into_raw().as_ptr());
        let cell = error.cell_ptr();
        // SAFETY: nobody else knows the error yet. Its cell holds null in both places, and owns the references from now on.
        unsafe {
            (*cell).cause_chain = owned(cause.map(Error::as_object)).cast();
            (*cell).extra_context = owned(context).cast();
        }
        Some(error)
    }

    /// Makes an error of the same kind and with the same backtrace, but another message. Same fallback as [`Error::new`].
    #[must_use]
    pub fn with_message(&self, message: &[u8]) -> Error {
        match self.site() {
            Some(site) => compose_at(site, self.kind(), &|out| out.put(message)),
            None => self.with_backtrace(|text| Error::from_bytes(self.kind(), message, text)),
        }
    }

    /// Makes an error whose message `write` writes in pieces, put together in place; it is called twice, first to count.
    /// Otherwise as [`Error::new`].
    ///
    /// # Upstream
    /// `TVMFFIErrorSetRaisedFromCStrParts`.
    pub fn from_parts(site: Site, kind: impl AsRef<[u8]>, write: &dyn Fn(&mut Writer<'_>)) -> Error {
        // C may change its texts between the two passes: then the text is cut.
        compose_at(site, kind.as_ref(), write)
    }

    /// The same error with `cause` as the error that caused it and `context` as its extra context.
    ///
    /// Only for errors that nobody else holds yet; the static MemoryError stays as it is.
    #[must_use]
    pub fn with_cause_and_context(self, mut cause: Option<Error>, context: Option<ObjectRef>) -> Error {
        if let Some(cause) = &mut cause {
            cause.complete_backtrace();
        }
        if self.0.is_unique() {
            // SAFETY: the only reference is ours, so nobody reads the cell now. The cell owns both references.
            unsafe {
                let cell = self.cell_ptr();
                for (slot, value) in [
                    (&raw mut (*cell).cause_chain, cause.map(|cause| cause.0)),
                    (&raw mut (*cell).extra_context, context),
                ] {
                    if let Some(value) = value {
                        let previous = slot.replace(value.into_raw().as_ptr().cast());
                        if !previous.is_null() {
                            release::release_object(previous.cast());
                        }
                    }
                }
            }
        }
        self
    }

    /// Puts `context` in the place of the extra context, which is released. The static MemoryError stays as it is.
    ///
    /// # Safety
    /// The error may have other holders, as long as none of them uses it meanwhile but to count it: errors are changed on
    /// their way up from where they were raised, by one thread (ABI).
    ///
    /// # Upstream
    /// `UpdateVisitErrorContext` in `extra/visit_error_context.h` writes the cell.
    pub unsafe fn set_extra_context(&self, context: ObjectRef) {
        if static_error::is(self) {
            return;
        }
        // SAFETY: the error is alive and made by an allocation, and nobody else uses its cell now.
        let previous = unsafe {
            (&raw mut (*self.cell_ptr()).extra_context).replace(context.into_raw().as_ptr().cast())
        };
        // SAFETY: the cell owned a live object, or held null.
        drop(NonNull::new(previous.cast()).map(|previous| unsafe { ObjectRef::from_raw(previous) }));
    }

    fn cell_ptr(&self) -> *mut TVMFFIErrorCell {
        // SAFETY: the cell follows the header of every error object (ABI).
        unsafe { self.0.as_ptr().add(1).cast() }
    }

    /// The kind, such as `TypeError`.
    pub fn kind(&self) -> &[u8] {
        // SAFETY: kind and message of an error object never change while it lives (ABI).
        unsafe { (*self.cell_ptr()).kind.as_slice() }
    }

    /// The message.
    pub fn message(&self) -> &[u8] {
        // SAFETY: as for `kind`.
        unsafe { (*self.cell_ptr()).message.as_slice() }
    }

    /// Runs `read` on the backtrace: one line per frame, most recent call first.
    ///
    /// The text must not be kept: the next update moves it.
    pub fn with_backtrace<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: valid until the next update; errors are not updated while somebody reads them (ABI).
        read(unsafe { (*self.cell_ptr()).backtrace.as_slice() })
    }

    /// Replaces the backtrace, or appends to it. Without memory the backtrace stays as it is. Boards keep none.
    ///
    /// # Safety
    /// As for [`set_extra_context`](Error::set_extra_context).
    ///
    /// # Upstream
    /// `TVMFFIErrorCell::update_backtrace`.
    pub unsafe fn set_backtrace(&self, backtrace: &[u8], append: bool) {
        let text = TVMFFIByteArray { data: backtrace.as_ptr().cast(), size: backtrace.len() };
        // SAFETY: the error is alive; its own function updates its cell, which nobody else uses now.
        unsafe {
            if let Some(update) = (*self.cell_ptr()).update_backtrace {
                update(self.0.as_ptr().cast(), &text, i32::from(append));
            }
        }
    }

    /// The error that caused this one.
    pub fn cause(&self) -> Option<Error> {
        // SAFETY: the cell owns a live error object, or holds null.
        let cause = unsafe { NonNull::new((*self.cell_ptr()).cause_chain.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        cause.and_then(|cause| unsafe { ObjectRef::borrow_raw(cause) }.downcast().ok())
    }

    /// The extra context.
    pub fn extra_context(&self) -> Option<ObjectRef> {
        // SAFETY: the cell owns a live object, or holds null.
        let context = unsafe { NonNull::new((*self.cell_ptr()).extra_context.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        context.map(|context| unsafe { ObjectRef::borrow_raw(context) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Lossy(self.kind()), Lossy(self.message()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectClass;

    #[test]
    fn an_error_carries_its_parts() {
        let cause = error!(VALUE_ERROR, "inner");
        let error =
            error!(TYPE_ERROR, "expected {} but got {}", "int", 5).with_cause_and_context(Some(cause), None);
        assert_eq!((error.kind(), error.message()), (&b"TypeError"[..], &b"expected int but got 5"[..]));
        assert_eq!(error.cause().map(|cause| cause.message() == b"inner"), Some(true));
        assert!(error.extra_context().is_none());
    }

    #[cfg(feature = "std")]
    #[test]
    fn backtraces_are_replaced_and_appended() {
        let error = Error::from_bytes(b"K", b"m", b"one\n");
        // SAFETY: here and below, nobody else knows the error.
        unsafe { error.set_backtrace(b"two\n", true) };
        error.with_backtrace(|text| assert_eq!(text, b"one\ntwo\n"));
        // SAFETY: as above.
        unsafe { error.set_backtrace(b"three\n", false) };
        error.with_backtrace(|text| assert_eq!(text, b"three\n"));
    }

    #[test]
    fn the_last_resort_survives_its_users() {
        for _ in 0..3 {
            let error = static_error::out_of_memory();
            // SAFETY: the update of this error changes nothing.
            unsafe { error.set_backtrace(b"ignored", false) };
            assert_eq!((error.kind(), error.message()), (&b"MemoryError"[..], &b"Out of memory"[..]));
        }
    }

    #[test]
    fn the_context_of_a_shared_error_is_replaced() {
        let error = error!(VALUE_ERROR, "outer");
        let _other_holder = error.clone();
        for text in ["first", "second"] {
            // SAFETY: the other holder does not use the error.
            unsafe { error.set_extra_context(error!(VALUE_ERROR, "{text}").into_object()) };
            let context = error.extra_context().and_then(|context| context.downcast::<Error>().ok());
            assert_eq!(context.map(|context| context.message() == text.as_bytes()), Some(true));
        }
        let last_resort = static_error::out_of_memory();
        // SAFETY: nothing is changed in this error.
        unsafe { last_resort.set_extra_context(error.into_object()) };
        assert!(last_resort.extra_context().is_none());
    }

    /// Both threads only borrow the cause, so neither may change it.
    #[test]
    fn an_error_is_the_cause_of_two_at_once() {
        let cause = error!(VALUE_ERROR, "cause");
        let make = || Error::with_causes(b"K", b"m", b"", Some(&cause), None);
        std::thread::scope(|threads| {
            let other = threads.spawn(make);
            for error in [make(), other.join().unwrap()] {
                assert!(error.unwrap().cause().unwrap().as_object().ptr_eq(cause.as_object()));
            }
        });
    }

    #[test]
    fn a_long_cause_chain_is_released_without_recursion() {
        let mut error = error!(VALUE_ERROR, "first");
        for _ in 0..if cfg!(feature = "std") && !cfg!(miri) { 300_000 } else { 100 } {
            error = error!(VALUE_ERROR, "next").with_cause_and_context(Some(error), None);
        }
        drop(error);
    }
}
