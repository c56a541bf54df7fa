//! Static descriptions of this library's own reflected classes.

use ferrite_core::abi::{
    TVMFFIMethodInfo, TVMFFIObjectCreator, TVMFFISEqHashKind,
    kTVMFFIFieldFlagBitMaskIsStaticMethod, type_index,
};
use ferrite_core::class::KeyBinding;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::value::any::AnyView;

use super::field::{self, Field};

/// Attribute column of classes that have no subclasses.
pub(super) const FINAL: &[u8] = b"__ffi_type_final__";

/// Static description of a reflected class.
pub(crate) struct Class {
    /// Type index, assigned when the class is registered.
    pub binding: KeyBinding,
    pub key: &'static str,
    /// Parent class; `None` for direct subclasses of ffi.Object.
    pub parent: Option<&'static Class>,
    /// Type index fixed by the ABI, or -1 for a dynamically assigned index.
    pub static_index: i32,
    /// Size of an object in bytes.
    pub size: usize,
    pub kind: TVMFFISEqHashKind,
    pub creator: Option<TVMFFIObjectCreator>,
    pub is_final: bool,
    pub fields: &'static [Field],
    pub methods: &'static [Method],
    /// Functions to register in attribute columns.
    pub attrs: &'static [Attr],
}

/// Static description of a method. Its function is named `KEY.NAME`.
pub(crate) struct Method {
    pub name: &'static str,
    pub doc: &'static str,
    pub is_static: bool,
    pub function: StaticFunction,
}

/// Type attribute that is a function: the name of the attribute column, and the function.
pub(crate) struct Attr(pub &'static str, pub StaticFunction);

/// Describes a method: `method!("ffi.X", "name", function)`, or
/// `method!(static "ffi.X", "name", function)` for a static method.
macro_rules! method {
    (static $key:literal, $name:literal, $function:expr) => {
        $crate::reflection::class::Method { is_static: true, ..method!($key, $name, $function) }
    };
    ($key:literal, $name:literal, $function:expr) => {
        $crate::reflection::class::Method {
            name: $name,
            doc: "",
            is_static: false,
            function: ::ferrite_core::static_function!(concat!($key, ".", $name), $function),
        }
    };
}
pub(crate) use method;

/// Describes a type attribute that is a function: `attr!("ffi.X", "__ffi_repr__", function)`.
macro_rules! attr {
    ($key:literal, $name:literal, $function:expr) => {
        $crate::reflection::class::Attr(
            $name,
            ::ferrite_core::static_function!(concat!($key, ".", $name), $function),
        )
    };
}
pub(crate) use attr;

impl Class {
    /// Describes a final direct subclass of ffi.Object without fields, methods and attributes.
    pub(crate) const fn new(key: &'static str, size: usize) -> Class {
        Class {
            binding: KeyBinding::new(),
            key,
            parent: None,
            static_index: -1,
            size,
            kind: 0,
            creator: None,
            is_final: true,
            fields: &[],
            methods: &[],
            attrs: &[],
        }
    }

    /// Returns the type index. Before the class is registered, this is an index that no object has.
    pub(crate) fn index(&self) -> i32 {
        self.binding.index()
    }

    /// Returns the type index. Allocates it on the first call.
    ///
    /// # Errors
    /// TypeError if a class in Rust has taken the key; MemoryError.
    pub(crate) fn register_index(&'static self) -> Result<i32> {
        let known = self.index();
        if known >= 0 {
            return Ok(known);
        }
        let (parent_type_index, type_depth) = match self.parent {
            Some(parent) => (parent.register_index()?, parent.depth() + 1),
            None => (type_index::OBJECT, 1),
        };
        let index = type_table::get_or_alloc_index(&NewTypeRequest {
            type_key: self.key.as_bytes(),
            static_type_index: self.static_index,
            type_depth,
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index,
        })?;
        self.binding.bind_reserved(index, self.key.as_bytes())?;
        Ok(index)
    }

    fn depth(&self) -> i32 {
        self.parent.map_or(1, |parent| parent.depth() + 1)
    }
}

impl Method {
    /// Registers the method for a type.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn register(&self, type_index: i32) -> Result<()> {
        let (function, metadata) = (self.function.to_function()?, self.function.metadata()?);
        let info = TVMFFIMethodInfo {
            name: field::text(self.name),
            doc: field::text(self.doc),
            metadata: field::bytes(metadata.as_bytes()),
            flags: if self.is_static {
                i64::from(kTVMFFIFieldFlagBitMaskIsStaticMethod)
            } else {
                0
            },
            method: *AnyView::from(&function).as_raw(),
        };
        // SAFETY: strings and function live through the call.
        unsafe { type_table::register_method(type_index, &info) }
    }
}

impl Attr {
    /// Registers the attribute for a type, unless the type already has it.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn register_once(&self, type_index: i32) -> Result<()> {
        let known = type_table::attr(type_index, self.0.as_bytes());
        if known.is_none() { self.register(type_index) } else { Ok(()) }
    }

    fn register(&self, type_index: i32) -> Result<()> {
        let function = self.1.to_function()?;
        type_table::register_attr(type_index, self.0.as_bytes(), AnyView::from(&function))
    }
}
