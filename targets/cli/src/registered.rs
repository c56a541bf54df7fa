//! Global functions and types that are registered in this process.

use std::collections::BTreeSet;

use ferrite::abi::TVMFFIByteArray;
use ferrite::{Function, type_table};
use serde::{Deserialize, Serialize};

use crate::failure::Outcome;

/// Names in the tables of the process.
pub struct Registered {
    /// Global functions.
    pub functions: BTreeSet<String>,
    /// Type keys.
    pub types: BTreeSet<String>,
}

/// A registered type.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TypeReport {
    /// Type key, such as `ffi.Array`.
    pub key: String,
    /// Type key of the parent; `None` for the root.
    pub parent: Option<String>,
    /// Documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// Whether the type has a constructor that is derived from its fields, and is not among the
    /// methods.
    #[serde(default)]
    pub has_derived_init: bool,
    /// Fields, in order.
    pub fields: Vec<MemberReport>,
    /// Methods, in order.
    pub methods: Vec<MemberReport>,
}

/// A field or a method of a type.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct MemberReport {
    /// Name.
    pub name: String,
    /// Documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// Metadata, JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// Bits of `TVMFFIFieldFlagBitMask`.
    pub flags: i64,
}

impl MemberReport {
    /// Returns `true` for writable fields.
    pub fn is_writable(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns `true` for methods without an object.
    pub fn is_static(&self) -> bool {
        self.flags & 1 << 2 != 0
    }
}

impl Registered {
    /// Returns the names that are registered now.
    pub fn now() -> Outcome<Registered> {
        let list = Function::global("ffi.FunctionListGlobalNamesFunctor")?
            .call_packed(&[])?
            .get::<Function>()?;
        let count = list.call_packed(&[(-1i64).into()])?.get::<i64>()?;
        let mut functions = BTreeSet::new();
        for index in 0..count {
            functions.insert(text(
                list.call_packed(&[index.into()])?.get::<ferrite::String>()?.as_bytes(),
            ));
        }
        Ok(Registered { functions, types: type_keys() })
    }
}

/// Returns the metadata of a global function, JSON; `None` if it has none.
///
/// # Errors
/// MemoryError.
pub fn global_metadata(name: &str) -> Outcome<Option<String>> {
    let ask = Function::global("ffi.GetGlobalFuncMetadata")?;
    let metadata =
        ask.call_packed(&[(&ferrite::String::new(name)?).into()])?.get::<ferrite::String>()?;
    Ok(Some(text(metadata.as_bytes())).filter(|metadata| !metadata.is_empty()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn type_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let visited: Result<(), std::convert::Infallible> = type_table::for_each_key(|key| {
        keys.insert(text(key));
        Ok(())
    });
    match visited {
        Ok(()) => keys,
        Err(never) => match never {},
    }
}

/// Describes a type; `None` if no type has the key.
pub fn describe_type(key: &str) -> Option<TypeReport> {
    let index = type_table::key_to_index(key.as_bytes())?;
    let entry = type_table::type_info(index)?;
    let metadata = entry.metadata();
    // SAFETY: ancestors are registered types, which live as long as the process.
    let parent = entry.ancestors().last().map(|parent| unsafe { name(&(**parent).type_key) });
    Some(TypeReport {
        key: key.into(),
        parent,
        has_derived_init: !type_table::attr(index, b"__ffi_init__").is_none(),
        doc: metadata.and_then(|metadata| optional(&metadata.doc)),
        fields: entry
            .fields()
            .iter()
            .map(|field| member(&field.name, &field.doc, &field.metadata, field.flags))
            .collect(),
        methods: entry
            .methods()
            .iter()
            .map(|method| member(&method.name, &method.doc, &method.metadata, method.flags))
            .collect(),
    })
}

fn member(
    called: &TVMFFIByteArray,
    doc: &TVMFFIByteArray,
    metadata: &TVMFFIByteArray,
    flags: i64,
) -> MemberReport {
    MemberReport { name: name(called), doc: optional(doc), metadata: optional(metadata), flags }
}

/// Copies a string of the type table; `None` if it is empty.
fn optional(text: &TVMFFIByteArray) -> Option<String> {
    Some(name(text)).filter(|text| !text.is_empty())
}

/// Copies a name of the type table.
fn name(name: &TVMFFIByteArray) -> String {
    // SAFETY: names in the type table are valid as long as the process.
    text(unsafe { name.as_slice() })
}
