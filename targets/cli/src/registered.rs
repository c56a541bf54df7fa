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
    /// Fields, in order.
    pub fields: Vec<String>,
    /// Methods, in order.
    pub methods: Vec<String>,
}

impl Registered {
    /// Returns the present names.
    pub fn now() -> Outcome<Registered> {
        let list =
            Function::global("ffi.FunctionListGlobalNamesFunctor")?.call_packed(&[])?.get::<Function>()?;
        let count = list.call_packed(&[(-1i64).into()])?.get::<i64>()?;
        let mut functions = BTreeSet::new();
        for index in 0..count {
            functions.insert(text(list.call_packed(&[index.into()])?.get::<ferrite::String>()?.as_bytes()));
        }
        Ok(Registered { functions, types: type_keys() })
    }
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
    let entry = type_table::type_info(type_table::key_to_index(key.as_bytes())?)?;
    // SAFETY: ancestors are registered types, which live as long as the process.
    let parent = entry.ancestors().last().map(|parent| unsafe { name(&(**parent).type_key) });
    Some(TypeReport {
        key: key.into(),
        parent,
        fields: entry.fields().iter().map(|field| name(&field.name)).collect(),
        methods: entry.methods().iter().map(|method| name(&method.name)).collect(),
    })
}

/// Copies a name of the type table.
fn name(name: &TVMFFIByteArray) -> String {
    // SAFETY: names in the type table are valid as long as the process.
    text(unsafe { name.as_slice() })
}
