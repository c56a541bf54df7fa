//! Speed-optimised JSON writer, which reads containers in place.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::prefetch;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::active_lists::ActiveLists;
use crate::containers::{ArrayObject, ListObject, MapObject};
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
    let mut text = Buffer::try_with_capacity(FIRST_BYTES)?;
    text.try_resize(String::LEAD_BYTES, 0)?;
    let mut writer = JsonWriter::new(text, indent.unwrap_or(0).max(-1));
    writer.document(value)?;
    String::from_buffer(writer.output.text, String::LEAD_BYTES)
}

/// Initial capacity in bytes, below the length of most documents.
const FIRST_BYTES: usize = 256;

/// Appends a value as JSON text, without white space. After an error the buffer is empty.
///
/// # Errors
/// Errors of [`stringify`].
pub(crate) fn write(out: &mut Buffer<u8>, value: &Any) -> Result<()> {
    let mut writer = JsonWriter::new(mem::take(out), 0);
    writer.document(value)?;
    *out = writer.output.text;
    Ok(())
}

struct JsonWriter {
    output: Output,
    open: Buffer<WrittenContainer>,
    /// The lists among `open`. A cycle is found before any part of the list is written twice:
    /// siblings on the cycle may be long.
    active: ActiveLists,
}

/// A container being written, and the position in it.
struct WrittenContainer {
    entries: Entries,
    started: bool,
}

enum Entries {
    Array(ArrayObject, usize),
    List(ListObject, usize),
    Map(MapObject, Option<u64>),
}

impl JsonWriter {
    fn new(text: Buffer<u8>, indent: i64) -> Self {
        Self {
            output: Output { text, indent, margin: 0 },
            open: Buffer::new(),
            active: ActiveLists::new(),
        }
    }

    fn document(&mut self, value: &Any) -> Result<()> {
        if self.output.plain(value)? {
            return Ok(());
        }
        let mut inner = Some(Entries::of(value)?);
        loop {
            if let Some(entries) = inner.take() {
                self.begin(entries)?;
            }
            let Some(open) = self.open.last_mut() else { return Ok(()) };
            inner = self.output.entries(open)?;
            if inner.is_none() {
                self.end()?;
            }
        }
    }

    fn begin(&mut self, entries: Entries) -> Result<()> {
        if let Entries::List(list, _) = &entries
            && !self.active.push(list.as_object().as_ptr().addr())?
        {
            plain_bail!(VALUE_ERROR, "Cycle detected: List contains itself");
        }
        self.output.text.try_push(if entries.is_map() { b'{' } else { b'[' })?;
        self.output.margin = self.output.margin.saturating_add(self.output.indent);
        Ok(self.open.try_push(WrittenContainer { entries, started: false })?)
    }

    fn end(&mut self) -> Result<()> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        if matches!(open.entries, Entries::List(..)) {
            self.active.pop();
        }
        self.output.margin = self.output.margin.saturating_sub(self.output.indent);
        self.output.new_line()?;
        Ok(self.output.text.try_push(if open.entries.is_map() { b'}' } else { b']' })?)
    }
}

impl Entries {
    /// Returns a cursor at the first entry of a container; ValueError for other types.
    fn of(value: &Any) -> Result<Self> {
        Ok(match value.type_index() {
            type_index::ARRAY => Self::Array(value.get()?, 0),
            type_index::LIST => Self::List(value.get()?, 0),
            type_index::MAP => {
                let map: MapObject = value.get()?;
                map.prefetch_values();
                let first = map.first_slot();
                Self::Map(map, first)
            }
            _ => plain_bail!(VALUE_ERROR, "Unsupported type: `{}`", type_key(value.view())),
        })
    }

    fn is_map(&self) -> bool {
        matches!(self, Self::Map(..))
    }
}

/// Output text, and the indentation of the next line.
struct Output {
    text: Buffer<u8>,
    indent: i64,
    margin: i64,
}

impl Output {
    /// Writes entries up to the end or to the first container, which is returned.
    fn entries(&mut self, open: &mut WrittenContainer) -> Result<Option<Entries>> {
        let WrittenContainer { entries, started } = open;
        match entries {
            Entries::Array(array, next) => {
                let elements = array.as_slice();
                while let Some(value) = elements.get(*next) {
                    prefetch_next(elements, *next);
                    *next += 1;
                    self.separate(started)?;
                    if !self.plain(value)? {
                        return Entries::of(value).map(Some);
                    }
                }
            }
            Entries::List(list, next) => {
                while let Some(value) = list.element(*next)? {
                    *next += 1;
                    self.separate(started)?;
                    if !self.plain(&value)? {
                        return Entries::of(&value).map(Some);
                    }
                }
            }
            Entries::Map(map, next) => {
                while let Some((place, (key, value))) =
                    next.and_then(|place| Some((place, map.entry_refs(place)?)))
                {
                    *next = map.next_slot(place);
                    self.separate(started)?;
                    self.key(key)?;
                    if !self.plain(value)? {
                        return Entries::of(value).map(Some);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Writes the separator before an entry.
    fn separate(&mut self, started: &mut bool) -> Result<()> {
        if *started {
            self.text.try_push(b',')?;
        }
        *started = true;
        self.new_line()
    }

    fn new_line(&mut self) -> Result<()> {
        if self.indent == 0 {
            return Ok(());
        }
        self.text.try_push(b'\n')?;
        let margin = usize::try_from(self.margin).unwrap_or(0);
        Ok(self.text.try_resize(self.text.len().saturating_add(margin), b' ')?)
    }

    fn key(&mut self, key: &Any) -> Result<()> {
        let view = key.view();
        let Some(content) = view.bytes_of_string() else {
            plain_bail!(VALUE_ERROR, "Expect key to be string, got `{}`", type_key(view));
        };
        text::write_quoted(&mut self.text, content)?;
        Ok(self.text.try_extend_from_slice(if self.indent == 0 { b":" } else { b": " })?)
    }

    /// Writes a leaf. Returns `false` for other values, and writes nothing.
    fn plain(&mut self, value: &Any) -> Result<bool> {
        let view = value.view();
        match view.type_index() {
            type_index::NONE => self.text.try_extend_from_slice(b"null")?,
            type_index::BOOL if view.payload_bits() != 0 => {
                self.text.try_extend_from_slice(b"true")?
            }
            type_index::BOOL => self.text.try_extend_from_slice(b"false")?,
            type_index::INT => digits::write_int(&mut self.text, view.payload_bits() as i64)?,
            type_index::FLOAT => {
                number::write_float(&mut self.text, f64::from_bits(view.payload_bits()))?
            }
            type_index::SMALL_STR | type_index::STR => {
                text::write_quoted(&mut self.text, view.bytes_of_string().unwrap_or_default())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Prefetches the objects of the next elements and, if they are maps, their tables: a chain of
/// dependent loads.
#[inline]
fn prefetch_next(elements: &[Any], place: usize) {
    if let Some(object) = elements.get(place + 2).and_then(Any::as_object) {
        prefetch::to_read(object.as_ptr());
    }
    if let Some(map) =
        elements.get(place + 1).and_then(Any::as_object).and_then(ObjectRef::as_class::<MapObject>)
    {
        map.prefetch();
    }
}

fn type_key(view: AnyView<'_>) -> Lossy<'static> {
    Lossy(type_table::type_key_of(view.type_index()))
}
