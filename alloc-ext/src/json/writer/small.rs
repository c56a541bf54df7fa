//! Size-optimised JSON writer, which reads entries by slot.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use crate::containers::Container;
use crate::json::{digits, number, text};

/// Serialises a value to JSON text. Supported types are None, bool, int, float, String, Array,
/// List, and Map with string keys.
///
/// Without an indent, or with 0, the text contains no white space. Otherwise each entry is on a
/// separate line, indented by `indent` spaces per level; with a negative indent, lines are not
/// indented. Strings that are not valid UTF-8 are written unchanged.
///
/// # Errors
/// ValueError for a value or key of another type, and for a cyclic list; MemoryError.
///
/// # Upstream
/// `json::Stringify` in `extra/json.h`, which recurses and so crashes on deeply nested values.
pub fn stringify(value: &Any, indent: Option<i64>) -> Result<String> {
    let mut out = Buffer::new();
    // An indent beyond the address space runs out of memory in any case; all negative numbers mean
    // the same.
    let indent = indent.unwrap_or(0).clamp(-1, isize::MAX as i64);
    write_indented(&mut out, value, indent as isize)?;
    String::from_bytes(&out)
}

/// Appends a value as JSON text, without white space. After an error the text is incomplete.
///
/// # Errors
/// Errors of [`stringify`].
pub(crate) fn write(out: &mut Buffer<u8>, value: &Any) -> Result<()> {
    write_indented(out, value, 0)
}

fn write_indented(out: &mut Buffer<u8>, value: &Any, indent: isize) -> Result<()> {
    let mut writer = JsonWriter { out, indent, margin: 0, open: Buffer::new(), unsearched: 1 };
    writer.value(value)?;
    while !writer.open.is_empty() {
        writer.entry()?;
    }
    Ok(())
}

struct JsonWriter<'o> {
    out: &'o mut Buffer<u8>,
    indent: isize,
    margin: isize,
    open: Buffer<WrittenContainer>,
    /// Minimum depth of the next cycle search. Doubles with each search, so that all searches
    /// together take time linear in the maximum depth. A cyclic list exceeds any depth.
    unsearched: usize,
}

/// A container being written, and the position in it.
struct WrittenContainer {
    container: ObjectRef,
    next: usize,
    started: bool,
}

impl JsonWriter<'_> {
    /// Writes the next entry of the innermost container, or its closing bracket. Of an entry that
    /// is a container, only the start is written.
    fn entry(&mut self) -> Result<()> {
        let (mut key, mut value) = (Any::NONE, Any::NONE);
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let Some(container) = Container::of(&open.container) else { return Ok(()) };
        let (place, is_table) = (open.next, container.is_table());
        let is_there = is_table || place < container.len();
        if !is_there || !container.entry(place, &mut key, &mut value)? {
            self.open.pop();
            self.margin = self.margin.saturating_sub(self.indent);
            self.new_line()?;
            return Ok(self.out.try_push(if is_table { b'}' } else { b']' })?);
        }
        open.next = container.next(place)?;
        if core::mem::replace(&mut open.started, true) {
            self.out.try_push(b',')?;
        }
        self.new_line()?;
        if is_table {
            self.key(key.view())?;
        }
        self.value(&value)
    }

    fn new_line(&mut self) -> Result<()> {
        if self.indent == 0 {
            return Ok(());
        }
        self.out.try_push(b'\n')?;
        let margin = usize::try_from(self.margin).unwrap_or(0);
        Ok(self.out.try_resize(self.out.len().saturating_add(margin), b' ')?)
    }

    fn key(&mut self, key: AnyView<'_>) -> Result<()> {
        let Some(content) = key.bytes_of_string() else {
            plain_bail!(VALUE_ERROR, "Expect key to be string, got `{}`", type_key(key));
        };
        text::write_quoted(self.out, content)?;
        Ok(self.out.try_extend_from_slice(if self.indent == 0 { b":" } else { b": " })?)
    }

    /// Writes a leaf, or the start of a container.
    fn value(&mut self, value: &Any) -> Result<()> {
        let view = value.view();
        let word: &[u8] = match view.type_index() {
            type_index::NONE => b"null",
            type_index::BOOL if view.payload_bits() != 0 => b"true",
            type_index::BOOL => b"false",
            type_index::INT => return digits::write_int(self.out, view.payload_bits() as i64),
            type_index::FLOAT => {
                return number::write_float(self.out, f64::from_bits(view.payload_bits()));
            }
            type_index::SMALL_STR | type_index::STR => {
                return text::write_quoted(self.out, view.bytes_of_string().unwrap_or_default());
            }
            type_index::ARRAY | type_index::LIST | type_index::MAP => return self.begin(value),
            _ => plain_bail!(VALUE_ERROR, "Unsupported type: `{}`", type_key(view)),
        };
        Ok(self.out.try_extend_from_slice(word)?)
    }

    fn begin(&mut self, value: &Any) -> Result<()> {
        let Some(object) = value.as_object() else { return Ok(()) };
        let Some(container) = Container::of(object) else { return Ok(()) };
        if value.type_index() == type_index::LIST && self.open.len() >= self.unsearched {
            // Searches become rarer with depth, so that they take linear time in total. A cycle may
            // be written several times before it is found, or exhaust memory first.
            self.unsearched = 2 * self.open.len();
            if self.open.iter().any(|open| open.container.ptr_eq(object)) {
                plain_bail!(VALUE_ERROR, "Cycle detected: List contains itself");
            }
        }
        self.out.try_push(if container.is_table() { b'{' } else { b'[' })?;
        self.margin = self.margin.saturating_add(self.indent);
        Ok(self.open.try_push(WrittenContainer {
            container: object.clone(),
            next: container.first()?,
            started: false,
        })?)
    }
}

fn type_key(view: AnyView<'_>) -> Lossy<'static> {
    Lossy(type_table::type_key_of(view.type_index()))
}
