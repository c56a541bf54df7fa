//! Writes objects as JSON.

use core::fmt::{self, Write};

use ferrite_alloc_ext::base64;
use ferrite_alloc_ext::containers::{ArrayObject, MapObject};
use ferrite_core::abi::{DLDataType, type_index};
use ferrite_core::error::{self, Result};
use ferrite_core::names::type_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, Shape, String, Tensor, plain_bail};

use super::Dialect;
use crate::globals::array_bytes::{put, write_array};
use crate::{boxed, dtype};

/// Serialises a value and every object reachable from it.
///
/// # Errors
/// TypeError for an object of another class; MemoryError.
pub fn to_json(root: Any, dialect: Dialect) -> Result<String> {
    let mut graph = Graph { nodes: Buffer::new(), known: MapObject::with_capacity(0)?, dialect };
    let mut out = JsonText(Buffer::new());
    let root = graph.index_of(root)?;
    out.put(format_args!("{{\"root\": {root}, \"nodes\": [{{\"type_key\": \"\"}}"))?;
    let mut next = 0;
    while let Some(node) = graph.nodes.get(next).cloned() {
        out.put(format_args!(", "))?;
        graph.write(&node, &mut out)?;
        next += 1;
    }
    out.put(format_args!(
        "], \"b64ndarrays\": [], \"attrs\": {{\"tvm_version\": \"{}\"}}}}",
        dialect.version
    ))?;
    String::from_bytes(&out.0)
}

/// Nodes by index. Indices are assigned when a node is first referred to.
struct Graph {
    /// All nodes but node 0, which is None.
    nodes: Buffer<Any>,
    /// Indices in `nodes` of the objects, which are compared by identity.
    known: MapObject,
    dialect: Dialect,
}

impl Graph {
    fn index_of(&mut self, value: Any) -> Result<usize> {
        if value.is_none() {
            return Ok(0);
        }
        let is_shared = value.as_object().is_some() && value.view().bytes_of_string().is_none();
        if is_shared && let Some(index) = self.known.get(value.view())? {
            return Ok(index.get::<i64>()? as usize);
        }
        let index = self.nodes.len() + 1;
        if is_shared {
            self.known.insert(value.clone(), Any::from(index as i64))?;
        }
        self.nodes.try_push(value)?;
        Ok(index)
    }

    fn write(&mut self, node: &Any, out: &mut JsonText) -> Result<()> {
        if let Some(text) = node.view().bytes_of_string() {
            return self.write_string(text, out);
        }
        let constant = node.as_object().and_then(boxed::constant_parts);
        match node.type_index() {
            _ if constant.is_some_and(|(key, ..)| key == b"StringImm") => {
                let text = constant.map_or(Any::NONE, |(.., value)| value.clone());
                self.write_string(text.view().bytes_of_string().unwrap_or_default(), out)
            }
            type_index::INT => {
                self.write_number(node, (0, 32), format_args!("{}", node.get::<i64>()?), out)
            }
            type_index::BOOL => {
                let value = node.get::<bool>()?;
                let number = if self.dialect.has_boxes { ["false", "true"] } else { ["0", "1"] };
                self.write_number(node, (6, 8), format_args!("{}", number[usize::from(value)]), out)
            }
            type_index::FLOAT => {
                self.write_number(node, (2, 32), format_args!("{:e}", node.get::<f64>()?), out)
            }
            _ if let Some((key, dtype, value)) = constant => match value.type_index() {
                type_index::FLOAT => {
                    self.write_constant(key, dtype, format_args!("{:e}", value.get::<f64>()?), out)
                }
                _ => self.write_constant(key, dtype, format_args!("{}", value.get::<i64>()?), out),
            },
            type_index::ARRAY => self.write_array(&node.get()?, out),
            type_index::MAP => self.write_map(&node.get()?, out),
            type_index::TENSOR if self.dialect.has_strings => {
                let mut bytes = Buffer::new();
                write_array(&mut bytes, &node.get::<Tensor>()?)?;
                write_bytes("runtime.NDArray", &bytes, out)
            }
            type_index::SHAPE if self.dialect.has_strings => {
                let shape = node.get::<Shape>()?;
                let mut bytes = Buffer::new();
                put(&mut bytes, &[shape.as_slice().len() as u64])?;
                for extent in shape.as_slice() {
                    put(&mut bytes, &[extent.cast_unsigned()])?;
                }
                write_bytes("runtime.ShapeTuple", &bytes, out)
            }
            other => plain_bail!(
                TYPE_ERROR,
                "A value of type {} cannot be written as JSON of TVM before tvm-ffi",
                type_table::type_key_of(other)
            ),
        }
    }

    fn write_string(&self, text: &[u8], out: &mut JsonText) -> Result<()> {
        if !self.dialect.has_strings {
            out.put(format_args!(
                "{{\"type_key\": \"StringImm\", \"attrs\": {{\"dtype\": \"handle\", \"value\": "
            ))?;
            out.quote(text)?;
            return out.put(format_args!("}}}}"));
        }
        out.put(format_args!("{{\"type_key\": \"runtime.String\", "))?;
        if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            out.put(format_args!("\"repr_str\": "))?;
            out.quote(text)?;
        } else {
            let mut bytes = Buffer::new();
            put(&mut bytes, &[text.len() as u64])?;
            bytes.try_extend_from_slice(text)?;
            out.put(format_args!("\"repr_b64\": "))?;
            out.quote(base64::encode(&bytes)?.as_bytes())?;
        }
        out.put(format_args!("}}"))
    }

    /// Writes a number of tvm-ffi: boxed since 0.18, as a constant before.
    fn write_number(
        &self,
        node: &Any,
        dtype: (u8, u8),
        number: fmt::Arguments<'_>,
        out: &mut JsonText,
    ) -> Result<()> {
        let is_float = node.type_index() == type_index::FLOAT;
        if !self.dialect.has_boxes {
            let (code, bits) = dtype;
            let key: &[u8] = if is_float { b"FloatImm" } else { b"IntImm" };
            return self.write_constant(key, DLDataType { code, bits, lanes: 1 }, number, out);
        }
        let class = match node.type_index() {
            type_index::BOOL => "runtime.BoxBool",
            type_index::FLOAT => "runtime.BoxFloat",
            _ => "runtime.BoxInt",
        };
        out.put(format_args!("{{\"type_key\": \"{class}\", \"repr_str\": \"{number}\"}}"))
    }

    fn write_constant(
        &self,
        key: &[u8],
        dtype: DLDataType,
        number: fmt::Arguments<'_>,
        out: &mut JsonText,
    ) -> Result<()> {
        out.put(format_args!("{{\"type_key\": "))?;
        out.quote(key)?;
        out.put(format_args!(", \"attrs\": {{\"dtype\": "))?;
        out.quote(dtype::name_of(dtype)?.as_bytes())?;
        let span = if self.dialect.has_strings { ", \"span\": \"0\"" } else { "" };
        out.put(format_args!("{span}, \"value\": \"{number}\"}}}}"))
    }

    fn write_array(&mut self, array: &ArrayObject, out: &mut JsonText) -> Result<()> {
        out.put(format_args!("{{\"type_key\": \"Array\""))?;
        for (place, element) in array.as_slice().iter().enumerate() {
            let index = self.index_of(element.clone())?;
            out.put(format_args!("{}{index}", if place == 0 { ", \"data\": [" } else { ", " }))?;
        }
        out.put(format_args!("{}", if array.is_empty() { "}" } else { "]}" }))
    }

    fn write_map(&mut self, map: &MapObject, out: &mut JsonText) -> Result<()> {
        let has_names =
            !map.is_empty() && map.iter().all(|(key, _)| key.view().bytes_of_string().is_some());
        let key = if has_names && !self.dialect.has_strings { "StrMap" } else { "Map" };
        out.put(format_args!("{{\"type_key\": \"{key}\""))?;
        if has_names {
            for (place, (key, _)) in map.iter().enumerate() {
                out.put(format_args!("{}", if place == 0 { ", \"keys\": [" } else { ", " }))?;
                out.quote(key.view().bytes_of_string().unwrap_or_default())?;
            }
            out.put(format_args!("]"))?;
        }
        for (place, (key, value)) in map.iter().enumerate() {
            out.put(format_args!("{}", if place == 0 { ", \"data\": [" } else { ", " }))?;
            if !has_names {
                let index = self.index_of(key.clone())?;
                out.put(format_args!("{index}, "))?;
            }
            let index = self.index_of(value.clone())?;
            out.put(format_args!("{index}"))?;
        }
        out.put(format_args!("{}", if map.is_empty() { "}" } else { "]}" }))
    }
}

/// Writes an object that is stored as bytes.
fn write_bytes(key: &str, bytes: &[u8], out: &mut JsonText) -> Result<()> {
    out.put(format_args!("{{\"type_key\": \"{key}\", \"repr_str\": "))?;
    out.quote(base64::encode(bytes)?.as_bytes())?;
    out.put(format_args!("}}"))
}

/// Output buffer of JSON text.
struct JsonText(Buffer<u8>);

impl JsonText {
    fn put(&mut self, text: fmt::Arguments<'_>) -> Result<()> {
        self.write_fmt(text).map_err(|_| error::out_of_memory(self.0.len()))
    }

    /// Writes a string with quotes, and the escapes that earlier releases read.
    fn quote(&mut self, text: &[u8]) -> Result<()> {
        self.0.try_push(b'"')?;
        for byte in text {
            match byte {
                b'"' => self.0.try_extend_from_slice(b"\\\"")?,
                b'\\' => self.0.try_extend_from_slice(b"\\\\")?,
                b'\n' => self.0.try_extend_from_slice(b"\\n")?,
                b'\r' => self.0.try_extend_from_slice(b"\\r")?,
                b'\t' => self.0.try_extend_from_slice(b"\\t")?,
                byte => self.0.try_push(*byte)?,
            }
        }
        Ok(self.0.try_push(b'"')?)
    }
}

impl Write for JsonText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_extend_from_slice(text.as_bytes()).map_err(|_| fmt::Error)
    }
}
