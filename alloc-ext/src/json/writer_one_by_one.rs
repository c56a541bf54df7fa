//! The writer where size counts: one walk over the values, each held while it is written, with a stack of its own for what is
//! open.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectRef;
use ferrite_core::string::String;
use ferrite_core::text::Lossy;
use ferrite_core::{plain_bail, type_index, type_table};

use super::{number, text};
use crate::containers::Container;

/// Makes JSON text of a value: None, bool, int, float, String, and Array, List and Map of such, the last with keys that
/// are strings.
///
/// Without an indent, or with one of 0, the text has no white space; else each entry has a line of its own, indented by
/// as many blanks per level. A negative indent gives lines without blanks. Texts that are not UTF-8 stay what they are.
///
/// # Errors
/// ValueError for a value or key of another type and for a list inside itself; MemoryError.
///
/// # Upstream
/// `json::Stringify` in `extra/json.h`. That one recurses, so deep values end the process.
pub fn stringify(value: &Any, indent: Option<i64>) -> Result<String> {
    let mut out = Buffer::new();
    // Who asks for more blanks than there are addresses runs out of memory in any case; all negative numbers mean none.
    let indent = indent.unwrap_or(0).clamp(-1, isize::MAX as i64);
    write_indented(&mut out, value, indent as isize)?;
    String::from_bytes(&out)
}

/// Appends the text of a value, without white space. After an error the text is of no use.
///
/// # Errors
/// Those of [`stringify`].
pub(crate) fn write(out: &mut Buffer<u8>, value: &Any) -> Result<()> {
    write_indented(out, value, 0)
}

fn write_indented(out: &mut Buffer<u8>, value: &Any, indent: isize) -> Result<()> {
    let mut writer = Writer { out, indent, margin: 0, open: Buffer::new(), unsearched: 1 };
    writer.value(value)?;
    while !writer.open.is_empty() {
        writer.entry()?;
    }
    Ok(())
}

struct Writer<'o> {
    out: &'o mut Buffer<u8>,
    indent: isize,
    margin: isize,
    open: Buffer<Open>,
    /// How many containers may be open before a list is looked for among them: more each time, so that all searches together
    /// take no longer than the deepest one. What is inside itself gets deeper than any number.
    unsearched: usize,
}

/// A container that has been begun, and where the next entry is.
struct Open {
    container: ObjectRef,
    next: usize,
    started: bool,
}

impl Writer<'_> {
    /// Writes the next entry of the container that was begun last, or its end. Of an entry that is a container, the beginning.
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
        open.next = container.next(place);
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

    /// Writes a value, or the beginning of a container.
    fn value(&mut self, value: &Any) -> Result<()> {
        let view = value.view();
        let word: &[u8] = match view.type_index() {
            type_index::NONE => b"null",
            type_index::BOOL if view.payload_bits() != 0 => b"true",
            type_index::BOOL => b"false",
            type_index::INT => return number::write_int(self.out, view.payload_bits() as i64),
            type_index::FLOAT => return number::write_float(self.out, f64::from_bits(view.payload_bits())),
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
            // Rarer the deeper it is, so that all searches together take time that grows with the depth alone. A cycle may have
            // been written some times when it is found, or have filled the memory.
            self.unsearched = 2 * self.open.len();
            if self.open.iter().any(|open| open.container.ptr_eq(object)) {
                plain_bail!(VALUE_ERROR, "Cycle detected: List contains itself");
            }
        }
        self.out.try_push(if container.is_table() { b'{' } else { b'[' })?;
        self.margin = self.margin.saturating_add(self.indent);
        Ok(self.open.try_push(Open { container: object.clone(), next: container.first(), started: false })?)
    }
}

fn type_key(view: AnyView<'_>) -> Lossy<'static> {
    Lossy(type_table::type_key_of(view.type_index()))
}
