//! The canonical text of a value: content, layout and sharing, without addresses.
//!
//! Whether a short string lies in its cell or in an object is not part of it: texts that upstream's functions make are objects
//! whatever their length, ours are in the cell when they fit, and the ABI has clients take both. Neither is the capacity of a
//! sequence: replacing a slice of a List by a longer one makes room first here, so that a refusal leaves the list as it was.

use super::{Library, Raised, Value, tensor};
use ferrite_core::abi::*;
use std::collections::HashMap;
use std::fmt::{self, Display, Write};

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Dump { library: self.library(), met: HashMap::new(), out: f }.value(self)
    }
}

/// The set bit of a map's slot count that says that its entries lie in place.
const SMALL_MAP: u64 = 1 << 63;

struct Dump<'f, 'g> {
    library: &'static Library,
    /// Objects with an identity and their numbers.
    met: HashMap<TVMFFIObjectHandle, usize>,
    out: &'f mut fmt::Formatter<'g>,
}

impl Dump<'_, '_> {
    fn value(&mut self, value: &Value) -> fmt::Result {
        // SAFETY: each arm reads what the type index says is there.
        let payload = value.cell().payload;
        match value.type_index() {
            kTVMFFINone => self.out.write_str("None"),
            kTVMFFIInt => write!(self.out, "{}", value.as_int()),
            kTVMFFIBool => write!(self.out, "bool {}", value.as_int()),
            // SAFETY: as above.
            kTVMFFIFloat => unsafe { write!(self.out, "{:?} ({:#x})", payload.v_float64, payload.v_uint64) },
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
        // SAFETY: the value lives through the call and the use of what it gives.
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

    /// Writes an object with its number, and only the number when it comes again.
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
            let element = unsafe { Value::borrowed(self.library, *cell.data.cast::<TVMFFIAny>().add(at)) };
            self.value(&element)?;
            self.out.write_str(", ")?;
        }
        self.out.write_char(']')
    }

    fn map(&mut self, value: &Value) -> fmt::Result {
        let entries = entries(value);
        let is_map = value.type_index() == kTVMFFIMap;
        // Where a key hashes by its address, the number of slots is up to chance. A Dict may have had such a key.
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
        // SAFETY: the texts of a table entry live as long.
        write!(self.out, "{}(", unsafe { info.type_key.as_slice() }.escape_ascii())?;
        for depth in 0..=info.type_depth {
            let level = if depth < info.type_depth {
                // SAFETY: there is an ancestor for every depth below that of the type.
                unsafe { &**info.type_ancestors.add(depth as usize) }
            } else {
                info
            };
            for at in 0..level.num_fields as usize {
                // SAFETY: there are so many fields.
                self.field(value, unsafe { &*level.fields.add(at) })?;
            }
        }
        self.out.write_char(')')
    }

    fn field(&mut self, object: &Value, field: &TVMFFIFieldInfo) -> fmt::Result {
        let address = object.handle().cast::<u8>().wrapping_add(field.offset as usize);
        let getter = field.getter.expect("fields have getters");
        // SAFETY: the field lies in the object, and the name in the table.
        let (content, name) =
            unsafe { (self.library.value(|out| getter(address.cast(), out)), field.name.as_slice()) };
        write!(self.out, "{}=", name.escape_ascii())?;
        self.value(&content.expect("fields can be read"))?;
        self.out.write_str(", ")
    }
}

/// The entries of a map in order.
fn entries(map: &Value) -> Vec<(Value, Value)> {
    let name = if map.type_index() == kTVMFFIMap { "Map" } else { "Dict" };
    let library = map.library();
    let size = library.call(&format!("ffi.{name}Size"), &[map]).expect("a map has a size").as_int();
    let walk = library.call(&format!("ffi.{name}ForwardIterFunctor"), &[map]).expect("a map can be walked");
    let [key, value, next] = [0, 1, 2].map(|command| Value::int(library, command));
    let ask = |command| walk.call(&[command]).expect("the walk goes on");
    let mut entries = Vec::new();
    for at in 1..=size {
        entries.push((ask(&key), ask(&value)));
        assert_eq!(ask(&next).as_int() != 0, at < size, "the walk ends with the last entry");
    }
    entries
}

/// The number of slots of a map's table.
pub fn slots(map: &Value) -> u64 {
    // SAFETY: a map object has data, size and slots behind its header.
    unsafe { *map.body::<u64>().add(2) & !SMALL_MAP }
}

fn hashes_by_content(type_index: i32) -> bool {
    type_index < kTVMFFIStaticObjectBegin || matches!(type_index, kTVMFFIStr | kTVMFFIBytes | kTVMFFIBigInt)
}
