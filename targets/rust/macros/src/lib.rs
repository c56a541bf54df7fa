//! Macros for TVM-FFI objects and functions in Rust. Programs use them through the crate that
//! re-exports them.
//!
//! | macro | what it makes |
//! |---|---|
//! | [`macro@Object`] | a class of objects, from a struct |
//! | [`macro@object_methods`] | the methods, constructor and hooks of a class, from an `impl` block |
//! | [`macro@function`] | a global function, from a function |
//! | [`macro@export`] | a function that a library exports to the programs that load it, from a function |
//!
//! The code that they write names the crate `ferrite`. Code that depends on `ferrite-ffi-core`
//! alone adds `crate = "ferrite_core"` to the attributes.
#![forbid(unsafe_code)]

mod attribute;
mod export;
mod function;
mod methods;
mod object;

#[cfg(test)]
mod error_tests;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

/// Makes a struct the content of the objects of a class.
///
/// ```
/// use ferrite_core::{Object, Result};
/// use ferrite_macros::{Object, object_methods};
///
/// /// Counts.
/// #[derive(Object)]
/// #[object(key = "doc.Counter", crate = "ferrite_core")]
/// struct Counter {
///     /// The value so far.
///     #[object(read_write)]
///     value: i64,
/// }
///
/// #[object_methods(crate = "ferrite_core")]
/// impl Counter {
///     fn new(value: i64) -> Self {
///         Counter { value }
///     }
///
///     /// Adds to the value and returns it.
///     fn add(&mut self, by: i64) -> i64 {
///         self.value += by;
///         self.value
///     }
/// }
///
/// fn main() -> Result<()> {
///     let counter = Counter::new(1).into_arc()?;
///     assert_eq!(counter.borrow_mut()?.add(2), 3);
///     assert_eq!(counter.borrow()?.value, 3);
///     Ok(())
/// }
/// ```
///
/// The class is registered by `Counter::register()`, when it is first used, or when the kernel
/// library with it is loaded. Doc comments of the struct, its fields and its methods become
/// documentation in every language. A struct with more than one field is `repr(C)`, since code in
/// C++ and C
/// reads its fields in place.
///
/// | `#[object(…)]` of the struct | |
/// |---|---|
/// | `key = "demo.Counter"` | the name of the class in every language; required |
/// | `parent = Shape` | the parent class, whose struct is the type of the first field |
/// | `structural = "tree"` | how structural equality and hash treat objects: `tree`, `dag`, `const_tree`, `var`, `unique`, or `unsupported`, which is the default |
/// | `mutable` | objects change; follows from a `read_write` field, and is needed for `&mut self` methods without one |
/// | `final` | no class may be derived |
/// | `no_copy` | objects are not copied; otherwise every field is `Clone` |
/// | `child_slots = 8` | type indices to reserve for derived classes |
/// | `crate = "ferrite_core"` | the crate that the generated code names |
///
/// | `#[object(…)]` of a field | |
/// |---|---|
/// | `read_write` | other languages may write the field |
/// | `default`, `default = 5` | the default value: that of the type, or an expression, which may end in `?` |
/// | `name = "x"` | the name in other languages |
/// | `skip` | the field is not visible to other languages; its type is `Default` unless it has a default |
/// | `parent` | the first field is the struct of the parent class |
/// | `no_init`, `keyword` | the generated constructor does not take the field, or by keyword only |
/// | `no_repr`, `no_compare`, `no_hash` | printing, comparison or hash leaves the field out |
/// | `structural = "ignore"` | structural equality and hash leave the field out; `define` and `define_pattern`: the field defines variables |
///
/// The type of a visible field is one of values, `AnyCompatible` and `Clone`:
///
/// ```compile_fail,E0277
/// #[derive(ferrite_macros::Object)]
/// #[object(key = "doc.Thread", crate = "ferrite_core")]
/// struct Thread {
///     handle: std::sync::Arc<i64>,
/// }
/// ```
///
/// ```
/// #[derive(ferrite_macros::Object)]
/// #[object(key = "doc.Thread", crate = "ferrite_core")]
/// struct Thread {
///     #[object(skip)]
///     handle: std::sync::Arc<i64>,
/// }
/// ```
///
/// # Type keys
/// Within one program or library a type key belongs to one struct, and those of built-in types to
/// none: the registration of another one is a TypeError. Where another binary or language has
/// defined the class before, the struct is compared with the fields, offsets, sizes and types that
/// reflection shows there, and a difference is a TypeError, as is a field with `skip`:
///
/// | The class is defined | Fields | Objects |
/// |---|---|---|
/// | in Rust, by another binary | numbers, `Any`, strings, containers, references to objects, and `Option`s of references | mutable in both, or in neither |
/// | in C++, C or Python | numbers, `Any`, and `Option`s of references; read-only in both | are read here, and created there |
///
/// # Aliasing
/// Objects are shared between languages, so they have a borrow state that is checked at run time,
/// as in `RefCell`: see the module `class` of `ferrite-ffi-core`. A `&mut self` method that is
/// called while another method of the same object runs, from a callback or another thread, raises a
/// RuntimeError.
#[proc_macro_derive(Object, attributes(object))]
pub fn derive_object(item: TokenStream) -> TokenStream {
    let item = match syn::parse(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error().into(),
    };
    let tokens = object::expand(&item).unwrap_or_else(|error| {
        let (error, placeholder) = (error.to_compile_error(), object::placeholder(&item));
        quote::quote!(#error #placeholder)
    });
    tokens.into()
}

/// Makes the functions of an `impl` block methods of a class with `derive(Object)`.
///
/// `new` is the constructor, `__ffi_init__` in reflection. Functions with `&self` or `&mut self`
/// are methods, other ones static methods. A class has at most one such block.
///
/// | `#[object(…)]` of a function | |
/// |---|---|
/// | `skip` | the function is for Rust code only |
/// | `name = "x"` | the name in other languages |
/// | `repr` | `fn(&self)`, which returns a string, prints objects |
/// | `eq`, `compare` | `fn(&self, other: &Self)`, which returns `bool` or an integer, compares objects |
/// | `hash` | `fn(&self)`, which returns an integer, hashes objects; required with `eq` |
#[proc_macro_attribute]
pub fn object_methods(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_beside(item, |item| methods::expand(options.into(), item))
}

/// Registers a function as a global function, with its documentation and the types of its
/// parameters.
///
/// ```
/// use ferrite_core::{Function, Result, String, register_all};
/// use ferrite_macros::function;
///
/// /// Doubles a number.
/// #[function(name = "doc.twice", crate = "ferrite_core")]
/// fn twice(x: i64) -> i64 {
///     2 * x
/// }
///
/// fn main() -> Result<()> {
///     register_all!(twice)?;
///     Ok(())
/// }
/// ```
///
/// The name is that of the function if `name` is not given. On hosts the function is registered
/// when the program or library is loaded; a failure is logged. In firmware, and in programs that
/// want the error, `register_all!(twice, …)` registers it; a function that is registered already
/// stays as it is.
#[proc_macro_attribute]
pub fn function(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_beside(item, |item| function::expand(options.into(), item))
}

/// Exports a function of a kernel library as the symbols `__tvm_ffi_NAME`, its metadata and its
/// documentation, as `export_function!` does: name, documentation and types are those of the item.
///
/// ```
/// use ferrite_macros::export;
///
/// /// Adds two numbers.
/// #[export(crate = "ferrite_core")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
/// ```
#[proc_macro_attribute]
pub fn export(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_beside(item, |item| export::expand(options.into(), item))
}

/// Expands an attribute. After an error the item stays, so that its uses cause no further errors.
fn expand_beside(
    item: TokenStream,
    expand: impl FnOnce(TokenStream2) -> syn::Result<TokenStream2>,
) -> TokenStream {
    match expand(item.clone().into()) {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            let error: TokenStream = error.to_compile_error().into();
            [attribute::strip_own_attributes(item.into()).into(), error].into_iter().collect()
        }
    }
}
