//! The interface of `ferrite-ffi` and of `ferrite-ffi-sys`: the types that programs name, and the
//! modules with the rest.

pub use ferrite_core::call::function::{Argument, Arguments, Function, TypedFunction};
pub use ferrite_core::class::{Object, ObjectArc};
pub use ferrite_core::error::{Error, ErrorKind, Result, UserError};
pub use ferrite_core::object::weak::WeakObjectRef;
pub use ferrite_core::object::{ObjectClass, ObjectRef};
pub use ferrite_core::tensor::{Tensor, TensorView};
pub use ferrite_core::value::any::{Any, AnyView};
pub use ferrite_core::value::big_int::BigInt;
pub use ferrite_core::value::convert::{AnyCompatible, FromAny, FromView, IntoAny, Param, Value};
pub use ferrite_core::value::shape::Shape;
pub use ferrite_core::value::string::{Bytes, String};

pub use ferrite_core::abi::type_index;
#[cfg(target_has_atomic = "ptr")]
pub use ferrite_core::cached_global;
pub use ferrite_core::call::{export, function, typed};
pub use ferrite_core::class::registration;
pub use ferrite_core::error::log;
pub use ferrite_core::error::raised_error;
pub use ferrite_core::names::type_table;
pub use ferrite_core::object::{object_alloc, weak};
pub use ferrite_core::value::{any, big_int, convert, dtype, opaque, shape, string};
pub use ferrite_core::{abi, class, error, tensor};
pub use ferrite_core::{
    bail, call, ensure, export_function, match_type, object_class, register_all,
};

#[cfg(feature = "alloc")]
pub use ferrite_alloc_ext::containers::{Array, Dict, List, Map, Tuple};
#[cfg(feature = "alloc")]
pub use ferrite_alloc_ext::module::Module;
#[cfg(feature = "alloc")]
pub use ferrite_alloc_ext::structural::Structural;
#[cfg(feature = "alloc")]
pub use ferrite_alloc_ext::{
    base64, containers, dataclass, env, graph, json, module, reflection, structural,
};

/// Owned references to reference-counted objects, and typed references for object classes.
pub mod object {
    pub use ferrite_core::object::{ObjectClass, ObjectRef};
}

/// Data structures of Rust as values, and values in the formats of the crate `serde`:
/// [`to_value`](serde::to_value) and [`from_value`](serde::from_value). Containers, strings, shapes
/// and [`Any`] implement `Serialize` and `Deserialize`.
///
/// # Examples
/// ```
/// use ferrite::serde::{from_value, to_value};
/// use ferrite::{Any, Map, Result};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Options {
///     threads: u8,
///     names: Vec<String>,
/// }
///
/// fn main() -> Result<()> {
///     let options = Options { threads: 4, names: vec!["relu".into()] };
///     // What a function of any language takes, and gives.
///     let map: Map<ferrite::String, Any> = to_value(&options)?.try_into()?;
///     assert_eq!(map.at("threads")?.get::<i64>()?, 4);
///     assert_eq!(from_value::<Options>(&map.into())?, options);
///     Ok(())
/// }
/// ```
#[cfg(feature = "serde")]
pub mod serde {
    pub use ferrite_core::value::interop::serde::*;
}

#[cfg(feature = "macros")]
#[allow(unused_imports, reason = "the package of macros decides what there is")]
pub use ferrite_macros::*;

#[doc(hidden)]
pub use ferrite_core::__macros;
