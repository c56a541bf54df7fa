//! Functions with the metadata that other languages read, and their registration as global
//! functions from static descriptions, which the attribute `function` of `ferrite-ffi-macros`
//! writes.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::call::export::metadata_text;
use crate::call::function::Function;
use crate::call::typed::{Callee, Signature, TypedFn};
use crate::error::Result;
use crate::value::any::AnyView;

/// A function with the signature that its metadata describes.
pub struct DescribedFunction {
    /// The function object.
    pub function: Function,
    /// The types of parameters and result.
    pub signature: &'static Signature<'static>,
}

impl DescribedFunction {
    /// Creates a typed function whose error messages show `name`.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new<Args, F>(name: &'static str, function: F) -> Result<DescribedFunction>
    where
        Args: 'static,
        F: TypedFn<Args> + Send + Sync + 'static,
    {
        let call =
            move |args: &[AnyView<'_>]| function.invoke(&Callee::new(name, F::SIGNATURE), args);
        Ok(DescribedFunction { function: Function::from_packed(call)?, signature: F::SIGNATURE })
    }
}

/// Static description of a global function.
pub struct GlobalFunction {
    name: &'static str,
    doc: &'static str,
    function: fn() -> Result<DescribedFunction>,
    is_registered: AtomicBool,
}

impl GlobalFunction {
    /// Describes a function by its name, its documentation string and its constructor.
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        function: fn() -> Result<DescribedFunction>,
    ) -> GlobalFunction {
        GlobalFunction { name, doc, function, is_registered: AtomicBool::new(false) }
    }

    /// Registers the function, with its documentation and type schema. Does nothing if this
    /// description has been registered.
    ///
    /// # Errors
    /// RuntimeError if another function has the name; MemoryError.
    ///
    /// # Upstream
    /// `reflection::GlobalDef` in `reflection/registry.h`.
    pub fn register(&self) -> Result<()> {
        if self.is_registered.load(Ordering::Acquire) {
            return Ok(());
        }
        let described = (self.function)()?;
        let metadata = metadata_text(&|out| described.signature.write_schema(out))?;
        set_global(self.name, &described.function, self.doc, metadata.as_bytes())?;
        self.is_registered.store(true, Ordering::Release);
        Ok(())
    }

    /// Registers the function when the program or library is loaded. A failure is logged.
    pub fn register_at_load(&self) {
        at_load(self.name, || self.register());
    }
}

/// Registers functions with the attribute `function`, by their paths:
/// `register_all!(greet, math::add)`. For builds whose linkers run no code before `main`, and for
/// programs that want the error.
///
/// Returns `Result<()>`: the error of the first registration that fails. Those before it stay.
#[macro_export]
macro_rules! register_all {
    ($($($path:ident)::+),* $(,)?) => {
        (|| -> $crate::Result<()> {
            $($($path)::+::global_function().register()?;)*
            Ok(())
        })()
    };
}

/// Makes the loader of the program or library call a function, where it does such calls:
/// `at_load!(register)`. The function must not panic.
#[doc(hidden)]
#[macro_export]
macro_rules! __at_load {
    ($function:path) => {
        #[cfg(any(unix, windows))]
        const _: () = {
            extern "C" fn call() {
                $function();
            }

            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
            #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
            #[cfg_attr(
                not(any(target_vendor = "apple", windows)),
                unsafe(link_section = ".init_array")
            )]
            static CALL: extern "C" fn() = call;
        };
        #[cfg(not(any(unix, windows)))]
        const _: fn() = $function;
    };
}

/// Registers a class when the kernel library is loaded, so that the process that loads it finds the
/// class by its key. In programs, classes are registered when they are first used.
#[cfg(feature = "client")]
#[doc(hidden)]
#[macro_export]
macro_rules! __class_at_load {
    ($class:ty) => {
        const _: () = {
            fn register() {
                <$class as $crate::class::Object>::class().register_at_load();
            }
            $crate::__at_load!(register);
        };
    };
}

/// Registers nothing: in programs, classes are registered when they are first used.
#[cfg(not(feature = "client"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __class_at_load {
    ($class:ty) => {};
}

/// Runs a registration while a library is loaded. A failure is logged, since no caller can receive
/// it.
pub(crate) fn at_load(name: &str, register: impl FnOnce() -> Result<()>) {
    crate::platform::unwind::contain_panic(|| {
        if let Err(error) = register() {
            let reason = crate::platform::text::Lossy(error.message_bytes());
            crate::plain_warn!("`{}` was not registered: {}", name, reason; "no `{}`: {}", name, reason);
        }
    });
}

#[cfg(not(feature = "client"))]
fn set_global(name: &str, function: &Function, doc: &str, metadata: &[u8]) -> Result<()> {
    crate::names::global_table::set_with_docs(
        name.as_bytes(),
        function,
        doc.as_bytes(),
        metadata,
        false,
    )
}

#[cfg(feature = "client")]
fn set_global(name: &str, function: &Function, doc: &str, metadata: &[u8]) -> Result<()> {
    use crate::abi::{TVMFFIByteArray, TVMFFIMethodInfo, client};

    let info = TVMFFIMethodInfo {
        name: TVMFFIByteArray::from_slice(name.as_bytes()),
        doc: TVMFFIByteArray::from_slice(doc.as_bytes()),
        metadata: TVMFFIByteArray::from_slice(metadata),
        flags: 0,
        method: *AnyView::from(function).as_raw(),
    };
    // SAFETY: strings and function are valid for the call, which copies and retains them.
    crate::call::function::check_status(unsafe {
        client::TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0)
    })
}
