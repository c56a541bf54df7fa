//! Canonical text of a value: content, layout and sharing, without addresses.
//!
//! The text does not show whether a short string is stored in its cell or in an object: strings
//! from upstream's functions are always objects, this library's are in the cell if they fit, and
//! the ABI requires clients to accept both. Nor does it show the capacity of a sequence: replacing
//! a slice of a List by a longer one reserves first here, so that a failure leaves the list
//! unchanged.

use super::{Library, Raised, Value, tensor};
use ferrite_core::abi::*;
use std::collections::HashMap;
use std::fmt::{self, Display, Write};

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Dump { library: self.library(), met: HashMap::new(), out: f }.value(self)
    }
}

/// Bit of a map's slot count that marks the small layout.
const SMALL_MAP: u64 = 1 << 63;

struct Dump<'f, 'g> {
    library: &'static Library,
    /// Numbers of the objects visited so far.
    met: HashMap<TVMFFIObjectHandle, usize>,
    out: &'f mut fmt::Formatter<'g>,
}

impl Dump<'_, '_> {
    fn value(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: each arm reads the field selected by the type index.
        let payload = value.cell().payload;
        match value.type_index() {
            kTVMFFINone => self.out.write_str("None"),
            kTVMFFIInt => write!(self.out, "{}", value.as_int()),
            kTVMFFIBool => write!(self.out, "bool {}", value.as_int()),
            // SAFETY: as above.
            kTVMFFIFloat => unsafe {
                write!(self.out, "{:?} ({:#x})", payload.v_float64, payload.v_uint64)
            },
            // SAFETY: as above.
            kTVMFFIDataType => unsafe { write!(self.out, "{:?}", payload.v_dtype) },
            // SAFETY: as above.
            kTVMFFIDevice => unsafe { write!(self.out, "{:?}", payload.v_device) },
            kTVMFFISmallStr | kTVMFFIStr => self.text("", value),
            kTVMFFISmallBytes | kTVMFFIBytes => self.text("bytes ", value),
            kTVMFFIBigInt => self.big_int(value),
            kTVMFFIShape => self.shape(value),
            kTVMFFITensor => self.tensor(value),
            kTVMFFIFunction => self.out.write_str("function"),
            kTVMFFIError => write!(self.out, "error {}", Raised::read(value)),
            kTVMFFIArray | kTVMFFIList => self.once(value, Self::sequence),
            kTVMFFIMap | kTVMFFIDict => self.once(value, Self::map),
            other if other >= kTVMFFIStaticObjectBegin => self.once(value, Self::object),
            other => write!(self.out, "type {other}"),
        }
    }

    fn text(&mut self, prefix: &str, value: &Value) -> fmt::Result {
        write!(self.out, "{prefix}\"{}\"", value.as_bytes().escape_ascii())
    }

    fn big_int(&mut self, value: &Value) -> fmt::Result {
        let cell = value.cell();
        // SAFETY: the value lives through the call and the use of its result.
        let bytes = unsafe { (self.library.symbols.big_int_content)(&raw const cell).as_slice() };
        write!(self.out, "big {bytes:02x?}")
    }

    fn shape(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: a shape object has this record, which points to as many integers.
        let dimensions = unsafe {
            let cell = *value.body::<TVMFFIShapeCell>();
            std::slice::from_raw_parts(cell.data, cell.size)
        };
        write!(self.out, "shape {dimensions:?}")
    }

    fn tensor(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: a tensor object has this record.
        let tensor = unsafe { *value.body::<DLTensor>() };
        // SAFETY: all tensors that are dumped come from `tensor::counting`.
        let bytes = unsafe { tensor::bytes(&tensor) };
        write!(self.out, "tensor {} {bytes:02x?}", tensor::describe(&tensor))
    }

    /// Writes an object with its number; a later occurrence is written as the number only.
    fn once(&mut self, value: &Value, write: fn(&mut Self, &Value) -> fmt::Result) -> fmt::Result {
        if let Some(number) = self.met.get(&value.handle()) {
            return write!(self.out, "#{number}");
        }
        write!(self.out, "#{}=", self.met.len())?;
        self.met.insert(value.handle(), self.met.len());
        write(self, value)
    }

    fn sequence(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: a sequence object has this record.
        let cell = unsafe { *value.body::<TVMFFISeqCell>() };
        self.out.write_str(if value.type_index() == kTVMFFIArray { "array[" } else { "list[" })?;
        for at in 0..cell.size as usize {
            // SAFETY: it points to `size` cells with live values.
            let element =
                unsafe { Value::borrowed(self.library, *cell.data.cast::<TVMFFIAny>().add(at)) };
            self.value(&element)?;
            self.out.write_str(", ")?;
        }
        self.out.write_char(']')
    }

    fn map(&mut self, value: &Value) -> fmt::Result {
        let entries = entries(value);
        let is_map = value.type_index() == kTVMFFIMap;
        // If a key hashes by address, the number of slots is random. A Dict may have had such a key
        // before.
        let stable = is_map && entries.iter().all(|(key, _)| hashes_by_content(key.type_index()));
        self.out.write_str(if is_map { "map" } else { "dict" })?;
        if stable {
            write!(self.out, "/{}", slots(value))?;
        }
        self.out.write_char('{')?;
        for (key, value) in &entries {
            self.value(key)?;
            self.out.write_str(": ")?;
            self.value(value)?;
            self.out.write_str(", ")?;
        }
        self.out.write_char('}')
    }

    fn object(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: the type of a live object is registered, and its table entry never moves.
        let info = unsafe { &*(self.library.symbols.type_info)(value.type_index()) };
        // SAFETY: the strings of a table entry live as long.
        write!(self.out, "{}(", unsafe { info.type_key.as_slice() }.escape_ascii())?;
        for depth in 0..=info.type_depth {
            let level = if depth < info.type_depth {
                // SAFETY: there is an ancestor for every depth below that of the type.
                unsafe { &**info.type_ancestors.add(depth as usize) }
            } else {
                info
            };
            for at in 0..level.num_fields as usize {
                // SAFETY: the index is below the number of fields.
                self.field(value, unsafe { &*level.fields.add(at) })?;
            }
        }
        self.out.write_char(')')
    }

    fn field(&mut self, object: &Value, field: &TVMFFIFieldInfo) -> fmt::Result {
        let address = object.handle().cast::<u8>().wrapping_add(field.offset as usize);
        let getter = field.getter.expect("fields have getters");
        // SAFETY: the field lies in the object, and the name in the table.
        let (content, name) = unsafe {
            (self.library.value(|out| getter(address.cast(), out)), field.name.as_slice())
        };
        write!(self.out, "{}=", name.escape_ascii())?;
        self.value(&content.expect("fields can be read"))?;
        self.out.write_str(", ")
    }
}

/// Returns the entries of a map in order.
fn entries(map: &Value) -> Vec<(Value, Value)> {
    let name = if map.type_index() == kTVMFFIMap { "Map" } else { "Dict" };
    let library = map.library();
    let size = library.call(&format!("ffi.{name}Size"), &[map]).expect("a map has a size").as_int();
    let walk = library
        .call(&format!("ffi.{name}ForwardIterFunctor"), &[map])
        .expect("a map can be walked");
    let [key, value, next] = [0, 1, 2].map(|command| Value::int(library, command));
    let ask = |command| walk.call(&[command]).expect("the walk goes on");
    let mut entries = Vec::new();
    for at in 1..=size {
        entries.push((ask(&key), ask(&value)));
        assert_eq!(ask(&next).as_int() != 0, at < size, "the walk ends with the last entry");
    }
    entries
}

/// Returns the number of slots of a map's table.
pub fn slots(map: &Value) -> u64 {
    // SAFETY: a map object has data, size and slots behind its header.
    unsafe { *map.body::<u64>().add(2) & !SMALL_MAP }
}

fn hashes_by_content(type_index: i32) -> bool {
    type_index < kTVMFFIStaticObjectBegin
        || matches!(type_index, kTVMFFIStr | kTVMFFIBytes | kTVMFFIBigInt)
}
