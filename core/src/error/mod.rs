//! Error objects: kind, message, backtrace, cause and context. C reads their fields in place.

#[cfg(not(feature = "client"))]
mod block;
mod error_kind;
mod foreign;
pub mod log;
#[doc(hidden)]
pub mod message;
mod out_of_memory;
pub mod raised_error;
#[cfg(feature = "client")]
#[path = "client.rs"]
mod record;
#[cfg(not(feature = "client"))]
#[path = "record.rs"]
mod record;
mod site;
mod static_error;
#[cfg(not(any(feature = "std", feature = "client")))]
pub(crate) use out_of_memory::out_of_memory_with_free;
mod trace;
mod user;

use core::fmt::{self, Write};
use core::ptr::{self, NonNull};

use crate::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, type_index};
use crate::error::message::{Arg, Template, Text};
use crate::object::{ObjectClass, ObjectRef, release};
use crate::plain_error;
use crate::platform::memory::AllocError;
use crate::platform::stack::{MAX_NESTED_CALLS, TooDeep};
use crate::platform::text::{Lossy, Writer};
use crate::platform::unwind::Panic;

pub use error_kind::ErrorKind;
pub use site::{Site, SourceLocation};
pub use user::UserError;

/// The kinds of error that the library raises. Users may raise errors of any other kind.
pub mod kind {
    /// A value has the wrong type.
    pub const TYPE_ERROR: &str = "TypeError";
    /// A value has the right type but is invalid.
    pub const VALUE_ERROR: &str = "ValueError";
    /// An index is out of bounds.
    pub const INDEX_ERROR: &str = "IndexError";
    /// A key is missing.
    pub const KEY_ERROR: &str = "KeyError";
    /// An attribute is missing.
    pub const ATTRIBUTE_ERROR: &str = "AttributeError";
    /// Any other failure, such as a name that is taken or an object that is in use.
    pub const RUNTIME_ERROR: &str = "RuntimeError";
    /// An internal check failed.
    pub const INTERNAL_ERROR: &str = "InternalError";
    /// Out of memory.
    pub const MEMORY_ERROR: &str = "MemoryError";

    /// All kinds, each NUL-terminated. Message templates store the offset of their kind in this
    /// table.
    pub(crate) static ALL: &[u8] =
        b"TypeError\0ValueError\0IndexError\0KeyError\0AttributeError\0RuntimeError\0\
        InternalError\0MemoryError\0";

    /// Returns the offset of a kind in [`ALL`].
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

/// The result of a fallible operation: of this library, or with another error type.
pub type Result<T, E = Error> = core::result::Result<T, E>;

crate::object_class! {
    @bare
    /// A reference to an error object.
    ///
    /// # Upstream
    /// `tvm::ffi::Error` in `error.h`.
    pub struct Error, type_index::ERROR, "ffi.Error"
}

/// Creates an [`Error`] from a kind and a message with arguments.
///
/// The kind is a variant of [`ErrorKind`], without a path, or the name of a kind of one's own as a
/// literal.
///
/// ```
/// use ferrite_core::error;
///
/// let error = error!(ValueError, "expected {} items", 3);
/// assert_eq!(error.to_string(), "ValueError: expected 3 items");
/// assert_eq!(error!("MyError", "mine").to_string(), "MyError: mine");
/// ```
#[macro_export]
macro_rules! error {
    ($kind:literal, $($message:tt)+) => {
        $crate::error::Error::at($crate::__error_site!(), $kind, ::core::format_args!($($message)+))
    };
    ($kind:ident, $($message:tt)+) => {
        $crate::error::Error::at(
            $crate::__error_site!(),
            const { $crate::error::ErrorKind::$kind.as_str() },
            ::core::format_args!($($message)+),
        )
    };
}

/// Returns an [`Error`] from the enclosing function, with the arguments of
/// [`error!`](crate::error!).
///
/// ```
/// use ferrite_core::{Result, bail};
///
/// fn positive(x: i64) -> Result<i64> {
///     if x <= 0 {
///         bail!(ValueError, "{x} is not positive");
///     }
///     Ok(x)
/// }
/// assert_eq!(positive(-1).unwrap_err().message(), "-1 is not positive");
/// ```
#[macro_export]
macro_rules! bail {
    ($kind:tt, $($message:tt)+) => {
        return Err($crate::error!($kind, $($message)+))
    };
}

/// Returns an [`Error`] from the enclosing function unless a condition holds.
///
/// ```
/// use ferrite_core::{Result, ensure};
///
/// fn half(x: i64) -> Result<i64> {
///     ensure!(x % 2 == 0, ValueError, "{x} is odd");
///     Ok(x / 2)
/// }
/// assert_eq!(half(3).unwrap_err().message(), "3 is odd");
/// ```
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:tt, $($message:tt)+) => {
        if !$condition {
            $crate::bail!($kind, $($message)+);
        }
    };
}

/// Creates the MemoryError for a failed allocation of `asked_bytes`. The message states the number,
/// unless memory is exhausted for the message, too.
#[cold]
#[inline(never)]
pub fn out_of_memory(asked_bytes: usize) -> Error {
    out_of_memory::error_of(asked_bytes)
}

/// Creates an error without a backtrace. Returns `None` when out of memory. `write` writes the
/// message, and is called twice: first to measure it.
fn compose(kind: &[u8], write: &dyn Fn(&mut Writer<'_>)) -> Option<Error> {
    let mut count = Writer::new(&mut []);
    write(&mut count);
    let mut draft = record::Draft::new(kind, count.wanted)?;
    write(&mut Writer::new(draft.message()));
    draft.finish()
}

/// Creates the MemoryError of a failed allocation.
impl From<AllocError> for Error {
    #[inline]
    fn from(refused: AllocError) -> Error {
        out_of_memory(refused.bytes())
    }
}

/// Creates the ValueError of a refused nested call.
impl From<TooDeep> for Error {
    #[cold]
    #[inline(never)]
    fn from(refusal: TooDeep) -> Error {
        match refusal {
            #[cfg(all(feature = "std", not(feature = "client")))]
            TooDeep::StackUsedUp => {
                plain_error!(
                    VALUE_ERROR,
                    "Calls are nested too deep: the stack of the thread is used up"
                )
            }
            TooDeep::TooManyCalls => plain_error!(
                VALUE_ERROR,
                "Calls are nested too deep: more than {} inside one another",
                MAX_NESTED_CALLS
            ),
        }
    }
}

/// Creates the InternalError of a caught panic.
impl From<Panic> for Error {
    #[cold]
    #[inline(never)]
    fn from(panic: Panic) -> Error {
        plain_error!(INTERNAL_ERROR, "panic: {}", panic.message())
    }
}

/// Creates an error with `site` as its source location. The backtrace is captured when the error is
/// raised. Returns the static MemoryError when out of memory.
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
    /// Creates an error. Never fails: when out of memory, the result is the static MemoryError.
    ///
    /// The backtrace is captured when the error is raised, and shows the calls that led into the
    /// library.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Error;
    ///
    /// let error = Error::new("ValueError", format_args!("{} is too many", 3));
    /// assert_eq!(error.to_string(), "ValueError: 3 is too many");
    /// ```
    #[cold]
    pub fn new(kind: &str, message: fmt::Arguments<'_>) -> Error {
        Error::at(Site::UNKNOWN, kind, message)
    }

    /// Creates an error as [`Error::new`] does, with a backtrace that begins at `site`.
    #[cold]
    pub fn at(site: Site, kind: &str, message: fmt::Arguments<'_>) -> Error {
        // A failing Display leaves the text that it has written so far.
        let write = |out: &mut Writer<'_>| {
            let _ = out.write_fmt(message);
        };
        compose_at(site, kind.as_bytes(), &write)
    }

    /// Creates an error as [`Error::at`] does, from a template with at most `N` placeholders. For
    /// [`plain_error!`](crate::plain_error).
    #[doc(hidden)]
    #[inline(always)]
    pub fn plain<const N: usize>(site: Site, template: Template<N>, args: &[Arg<'_>; N]) -> Error {
        Error::of_text(site, template.text(), args.as_ptr())
    }

    #[cold]
    #[inline(never)]
    fn of_text(site: Site, text: Text, args: *const Arg<'_>) -> Error {
        // SAFETY: the template of the text has at most as many placeholders as there are arguments,
        // by its type.
        let write = move |out: &mut Writer<'_>| unsafe { text.write(args, out) };
        compose_at(site, text.kind(), &write)
    }

    /// Creates an error with the given backtrace. The strings may have any encoding. When out of
    /// memory, returns the static MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIErrorCreate`.
    pub fn from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Error {
        Error::try_from_bytes(kind, message, backtrace).unwrap_or_else(static_error::out_of_memory)
    }

    /// Creates an error with the given backtrace, or returns `None` when out of memory. The strings
    /// may have any encoding.
    pub fn try_from_bytes(kind: &[u8], message: &[u8], backtrace: &[u8]) -> Option<Error> {
        let error = compose(kind, &|out| out.put(message))?;
        if record::KEEPS_BACKTRACES && !backtrace.is_empty() {
            // SAFETY: nobody else knows the error yet.
            unsafe { error.set_backtrace(backtrace, false) };
        }
        Some(error)
    }

    /// Creates an error as [`Error::try_from_bytes`] does, with new references to its cause and its
    /// extra context. The backtrace of the cause is not completed: the cause is only borrowed, and
    /// other threads may be reading it.
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
        let owned = |object: Option<&ObjectRef>| {
            object.cloned().map_or(ptr::null_mut(), |it| it.into_raw().as_ptr())
        };
        let cell = error.cell_ptr();
        // SAFETY: the error is not shared yet. Both fields of its cell are null, and own the
        // references from now on.
        unsafe {
            (*cell).cause_chain = owned(cause.map(Error::as_object)).cast();
            (*cell).extra_context = owned(context).cast();
        }
        Some(error)
    }

    /// Creates an error with the same kind and backtrace but another message. When out of memory,
    /// returns the static MemoryError.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Error;
    ///
    /// let error = Error::new("ValueError", format_args!("too many"));
    /// assert_eq!(error.with_message(b"in layer 3: too many").to_string(), "ValueError: in layer 3: too many");
    /// ```
    #[must_use]
    pub fn with_message(&self, message: &[u8]) -> Error {
        match self.site() {
            Some(site) => compose_at(site, self.kind_bytes(), &|out| out.put(message)),
            None => self.with_backtrace(|text| Error::from_bytes(self.kind_bytes(), message, text)),
        }
    }

    /// Returns the error. Replaces the static MemoryError, which has no numbers, by an error that
    /// states the requested bytes, if memory is available by now. In firmware, a failed operation
    /// calls this after it has released its memory.
    #[must_use]
    pub fn with_numbers(self) -> Error {
        if static_error::is(&self) { out_of_memory::in_place_of_static() } else { self }
    }

    /// Creates an error as [`Error::new`] does, with a message that `write` composes in place.
    /// `write` is called twice: first to measure the message.
    ///
    /// # Upstream
    /// `TVMFFIErrorSetRaisedFromCStrParts`.
    pub fn from_parts(
        site: Site,
        kind: impl AsRef<[u8]>,
        write: &dyn Fn(&mut Writer<'_>),
    ) -> Error {
        // C may change its strings between the two passes; the text is then truncated.
        compose_at(site, kind.as_ref(), write)
    }

    /// Sets the cause and the extra context of a new error.
    ///
    /// Only for errors that are not shared yet. The static MemoryError stays unchanged.
    #[must_use]
    pub fn with_cause_and_context(
        self,
        mut cause: Option<Error>,
        context: Option<ObjectRef>,
    ) -> Error {
        if let Some(cause) = &mut cause {
            cause.complete_backtrace();
        }
        if self.0.is_unique() {
            // SAFETY: this is the only reference, so nobody else reads the cell. The cell owns both
            // references.
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

    /// Replaces the extra context and releases the previous one. An error with other references,
    /// which may be read at the same time, stays as it is and is replaced by a copy. The static
    /// MemoryError stays unchanged, and so does a shared error when out of memory.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Error;
    /// use ferrite_core::object::ObjectClass;
    ///
    /// let mut error = Error::new("ValueError", format_args!("no"));
    /// let shared = error.clone();
    /// error.set_extra_context(Error::new("TypeError", format_args!("context")).into_object());
    /// assert!(error.extra_context().is_some() && shared.extra_context().is_none());
    /// assert_eq!(error.to_string(), shared.to_string());
    /// ```
    ///
    /// # Upstream
    /// `UpdateVisitErrorContext` in `extra/visit_error_context.h` writes the cell, also of shared
    /// errors.
    pub fn set_extra_context(&mut self, context: ObjectRef) {
        if static_error::is(self) {
            return;
        }
        if !self.0.is_unique() {
            let copy =
                self.with_message(self.message_bytes()).with_cause_and_context(self.cause(), None);
            if static_error::is(&copy) {
                return;
            }
            *self = copy;
        }
        // SAFETY: this is the only reference, so nobody else reads the cell, which owns the
        // reference from here.
        let previous = unsafe {
            (&raw mut (*self.cell_ptr()).extra_context).replace(context.into_raw().as_ptr().cast())
        };
        // SAFETY: the cell owned a live object, or was null.
        drop(
            NonNull::new(previous.cast()).map(|previous| unsafe { ObjectRef::from_raw(previous) }),
        );
    }

    fn cell_ptr(&self) -> *mut TVMFFIErrorCell {
        // SAFETY: the cell follows the header of every error object (ABI).
        unsafe { self.0.as_ptr().add(1).cast() }
    }

    /// Borrows the name of the kind, such as `TypeError`, as C code wrote it.
    pub fn kind_bytes(&self) -> &[u8] {
        // SAFETY: kind and message of an error object never change while it lives (ABI).
        unsafe { (*self.cell_ptr()).kind.as_slice() }
    }

    /// Borrows the message of the error, in any encoding.
    pub fn message_bytes(&self) -> &[u8] {
        // SAFETY: as for `kind`.
        unsafe { (*self.cell_ptr()).message.as_slice() }
    }

    /// Calls `read` with the backtrace: one line per frame, most recent call first.
    ///
    /// The slice is valid until the next update of the backtrace.
    pub fn with_backtrace<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: valid until the next update; errors are not updated while they are read (ABI).
        read(unsafe { (*self.cell_ptr()).backtrace.as_slice() })
    }

    /// Replaces the backtrace, or appends to it. When out of memory, the backtrace stays unchanged.
    /// Bare-metal builds do not store backtraces.
    ///
    /// # Safety
    /// Other references to the error may exist, but during this call other threads may only retain
    /// and release them: an error is changed by one thread at a time while it propagates (ABI).
    ///
    /// # Upstream
    /// `TVMFFIErrorCell::update_backtrace`.
    pub unsafe fn set_backtrace(&self, backtrace: &[u8], append: bool) {
        let text = TVMFFIByteArray { data: backtrace.as_ptr().cast(), size: backtrace.len() };
        // SAFETY: the error is alive, and nobody else uses its cell, which its own function
        // updates.
        unsafe {
            if let Some(update) = (*self.cell_ptr()).update_backtrace {
                update(self.0.as_ptr().cast(), &text, i32::from(append));
            }
        }
    }

    /// Returns a new reference to the cause of this error, if any.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Error;
    ///
    /// let cause = Error::new("OSError", format_args!("no such file"));
    /// let error = Error::new("RuntimeError", format_args!("no model")).with_cause_and_context(Some(cause), None);
    /// assert_eq!(error.cause().map(|cause| cause.to_string()).as_deref(), Some("OSError: no such file"));
    /// ```
    pub fn cause(&self) -> Option<Error> {
        // SAFETY: the cell owns a live error object, or is null.
        let cause = unsafe { NonNull::new((*self.cell_ptr()).cause_chain.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        cause.and_then(|cause| unsafe { ObjectRef::borrow_raw(cause) }.downcast().ok())
    }

    /// Returns a new reference to the extra context, if any.
    pub fn extra_context(&self) -> Option<ObjectRef> {
        // SAFETY: the cell owns a live object, or is null.
        let context =
            unsafe { NonNull::new((*self.cell_ptr()).extra_context.cast::<TVMFFIObject>()) };
        // SAFETY: as above.
        context.map(|context| unsafe { ObjectRef::borrow_raw(context) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Lossy(self.kind_bytes()), Lossy(self.message_bytes()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests;
