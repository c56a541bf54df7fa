//! Fast path for decoding text in the format that this library writes: creates values while
//! parsing, without intermediate JSON values.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::names::type_table::TypeEntry;
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use super::container::ContainerMaker;
use super::plain;
use super::source::Json;
use super::type_cache::{Form, NodeType, TypeCache};
use crate::containers::ArrayObject;
use crate::json::{self, Number};
use crate::reflection::create_empty;
use crate::walk::{Field, Fields, Hooks};

/// Decodes a graph in the format that [`to_json_graph_string`](super::to_json_graph_string) writes.
/// Returns `None` for any other text and for any error, which the general decoder then reports.
pub(super) fn read(text: &[u8]) -> Option<Any> {
    let mut reader = Reader {
        text,
        at: 0,
        made: Buffer::try_with_capacity(text.len() / BYTES_PER_NODE).ok()?,
        values: Buffer::new(),
        types: TypeCache::new(Hooks::new("__data_from_json__")),
        containers: ContainerMaker::default(),
    };
    reader.graph()
}

/// Estimated bytes of text per node, for the initial capacity.
const BYTES_PER_NODE: usize = 32;

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// Values of the nodes decoded so far.
    made: Buffer<Any>,
    /// Elements of the container being parsed.
    values: Buffer<Any>,
    types: TypeCache,
    containers: ContainerMaker,
}

impl<'t> Reader<'t> {
    fn graph(&mut self) -> Option<Any> {
        self.expect(b"{\"root_index\":")?;
        let root = usize::try_from(self.int()?).ok()?;
        self.expect(b",\"nodes\":[")?;
        self.node()?;
        while self.expect(b",").is_some() {
            self.node()?;
        }
        self.expect(b"]")?;
        if self.expect(b",\"metadata\":").is_some() {
            json::parse(self.rest().strip_suffix(b"}")?).ok()?;
        } else if self.rest() != b"}" {
            return None;
        }
        self.made.get(root).cloned()
    }

    fn node(&mut self) -> Option<()> {
        self.expect(b"{\"type\":\"")?;
        let key = self.literal()?;
        let node_type = self.types.named(key)?;
        let value = match node_type.form {
            Form::Nothing => Any::NONE,
            _ => {
                self.expect(b",\"data\":")?;
                self.data(node_type)?
            }
        };
        self.expect(b"}")?;
        self.made.try_push(value).ok()
    }

    fn data(&mut self, node_type: NodeType) -> Option<Any> {
        match (node_type.form, node_type.index) {
            (Form::Numbers, index) => self.container(index),
            (Form::Fields(entry), _) => self.object(entry),
            (Form::Plain, type_index::INT) => self.int().map(Any::from),
            (Form::Plain, type_index::STR) => self.string(),
            (Form::Plain, index @ (type_index::SHAPE | type_index::DEVICE)) => {
                self.list(|reader| reader.int().map(Any::from))?;
                let array = ArrayObject::of_tail(&mut self.values, 0, &mut Apart).ok()?;
                plain::decode(index, Json::Value(array.into_any())).ok()
            }
            (Form::Plain, index) => self.plain(index),
            (Form::Nothing | Form::Other, _) => None,
        }
    }

    /// Decodes the data of a container.
    fn container(&mut self, type_index: i32) -> Option<Any> {
        self.list(Self::child)?;
        let is_map = matches!(type_index, type_index::MAP | type_index::DICT);
        if is_map && !self.values.len().is_multiple_of(2) {
            return None;
        }
        let made = self.containers.make(type_index, &mut self.values);
        self.values.clear();
        made.ok()
    }

    /// Decodes the data of an object: a JSON object with a value for each field, in field order.
    fn object(&mut self, entry: &'static TypeEntry) -> Option<Any> {
        let object = Any::new(create_empty(entry).ok()?);
        let mut before: &[u8] = b"{\"";
        for field in Fields::of(entry) {
            self.expect(before)?;
            self.expect(field.name())?;
            self.expect(b"\":")?;
            let value = self.field(field)?;
            field.set(&object, &value).ok()?;
            before = b",\"";
        }
        if before == b"{\"" {
            self.expect(b"{")?;
        }
        self.expect(b"}")?;
        Some(object)
    }

    fn field(&mut self, field: Field) -> Option<Any> {
        match field.static_type_index() {
            type_index::NONE => None,
            type_index::INT => self.int().map(Any::from),
            index @ (type_index::BOOL | type_index::FLOAT | type_index::DATA_TYPE) => {
                self.plain(index)
            }
            _ => self.child(),
        }
    }

    /// Parses a JSON array into `values`.
    fn list(&mut self, element: impl Fn(&mut Self) -> Option<Any>) -> Option<()> {
        self.expect(b"[")?;
        if self.expect(b"]").is_some() {
            return Some(());
        }
        loop {
            let value = element(self)?;
            self.values.try_push(value).ok()?;
            if self.expect(b",").is_none() {
                return self.expect(b"]");
            }
        }
    }

    /// Parses a node index and returns the value of that node.
    #[inline]
    fn child(&mut self) -> Option<Any> {
        let number = usize::try_from(self.int()?).ok()?;
        self.made.get(number).cloned()
    }

    /// Decodes the data of a value without children.
    fn plain(&mut self, index: i32) -> Option<Any> {
        let data = match self.rest().first()? {
            b'"' => self.string()?,
            b't' => self.expect(b"true").map(|()| Any::from(true))?,
            b'f' => self.expect(b"false").map(|()| Any::from(false))?,
            _ => match self.number()? {
                Number::Int(value) => value.into(),
                Number::Float(value) => value.into(),
            },
        };
        plain::decode(index, Json::Value(data)).ok()
    }

    #[inline]
    fn int(&mut self) -> Option<i64> {
        match self.number()? {
            Number::Int(value) => Some(value),
            Number::Float(_) => None,
        }
    }

    #[inline]
    fn number(&mut self) -> Option<Number> {
        let (number, len) = json::read_number(self.rest()).ok()??;
        self.at += len;
        Some(number)
    }

    #[inline]
    fn string(&mut self) -> Option<Any> {
        let start = self.at;
        self.expect(b"\"")?;
        if let Some(content) = self.literal() {
            return String::from_bytes_in(content, &mut self.containers.chunks)
                .ok()
                .map(String::into_any);
        }
        self.skip_string()?;
        json::parse(self.text.get(start..self.at)?).ok()
    }

    /// Parses the rest of a string, including its closing quote. Returns `None` and consumes
    /// nothing if the string contains an escape or a control character.
    #[inline]
    fn literal(&mut self) -> Option<&'t [u8]> {
        let rest = self.text.get(self.at..)?;
        let (content, end) = rest.split_at_checked(json::literal_len(rest))?;
        end.strip_prefix(b"\"")?;
        self.at += content.len() + 1;
        Some(content)
    }

    /// Skips a string up to and including its closing quote.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            self.at += json::literal_len(self.rest());
            match self.rest().first()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Skips `text` if it comes next; returns `None` otherwise.
    #[inline]
    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.rest().strip_prefix(text)?;
        self.at += text.len();
        Some(())
    }

    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }
}
