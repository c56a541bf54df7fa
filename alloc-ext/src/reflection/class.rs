//! Static descriptions of this library's own reflected classes, and their registration in the type
//! table.

use ferrite_core::abi::{
    TVMFFIMethodInfo, TVMFFIObjectCreator, TVMFFISEqHashKind, TVMFFITypeMetadata,
    kTVMFFIFieldFlagBitMaskIsStaticMethod, type_index,
};
use ferrite_core::class::KeyBinding;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::value::any::AnyView;

use super::FINAL;
use super::field::{self, Field};
use super::releases;

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

    /// Registers the class with its fields, methods, attributes and metadata, unless the type
    /// already has metadata.
    ///
    /// Resumes an earlier registration that ran out of memory, or that another thread had not
    /// finished when the process forked. Members that are registered already are skipped, which is
    /// correct because no other code adds members before metadata.
    ///
    /// # Errors
    /// The errors of [`register_index`](Class::register_index).
    pub(crate) fn register(&'static self) -> Result<()> {
        let index = self.register_index()?;
        let Some(entry) = type_table::type_info(index).filter(|entry| entry.metadata().is_none())
        else {
            return Ok(());
        };
        let fields = releases::fields_of(self).iter();
        fields.skip(entry.fields().len()).try_for_each(|field| field.register(index))?;
        self.methods
            .iter()
            .skip(entry.methods().len())
            .try_for_each(|method| method.register(index))?;
        self.attrs.iter().try_for_each(|attr| attr.register_once(index))?;
        releases::register_copy_method(self)?;
        if type_table::attr(index, FINAL).is_none() {
            type_table::register_attr(index, FINAL, AnyView::from(self.is_final))?;
        }
        let metadata = TVMFFITypeMetadata {
            doc: field::text(""),
            creator: self.creator,
            total_size: self.size as i32,
            structural_eq_hash_kind: self.kind,
        };
        // SAFETY: there is no doc.
        unsafe { type_table::register_metadata(index, &metadata) }
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
