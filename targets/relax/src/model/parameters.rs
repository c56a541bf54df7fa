//! Weights in a separate file: the format of TVM's `save_param_dict`.

use ferrite_alloc_ext::containers::MapObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::{Bytes, ObjectRef, String, Tensor, plain_error};

use crate::executable::reader::Reader;
use crate::executable::{Source, read_tensor};

/// Magic number of a file of parameters.
const MAGIC: u64 = 0xF7E5_8D4F_0504_9CB7;

/// Tensors by name, from a file that TVM's `save_param_dict` wrote.
///
/// # Examples
/// ```
/// use ferrite_relax::model::Parameters;
///
/// # fn main() -> ferrite_core::Result<()> {
/// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
/// let parameters = Parameters::load("mlp_i8/params.bin")?;
/// for (name, tensor) in parameters.iter() {
///     println!("{}: {:?}", String::from_utf8_lossy(name), tensor.shape());
/// }
/// assert_eq!(parameters.get("w1").unwrap().shape(), [32, 64]);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm.runtime.load_param_dict`.
#[derive(Clone, Debug)]
pub struct Parameters(MapObject);

impl Parameters {
    /// Reads parameters from bytes. A tensor whose data is aligned to 64 bytes refers to the
    /// source, which is then kept; others are copied.
    ///
    /// # Errors
    /// InternalError for malformed bytes; MemoryError.
    pub fn read(source: Source) -> Result<Parameters> {
        read(&source).map(Parameters).map_err(described)
    }

    /// Reads parameters from bytes, which are copied.
    ///
    /// # Errors
    /// Same errors as [`read`](Parameters::read).
    pub fn from_bytes(bytes: &[u8]) -> Result<Parameters> {
        Parameters::read(Source::Bytes(Bytes::new(bytes)?))
    }

    /// Reads parameters from a file.
    ///
    /// # Errors
    /// InternalError if the file cannot be read or is malformed; MemoryError.
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Parameters> {
        Parameters::read(Source::Bytes(crate::module::read_file(path.as_ref())?))
    }

    /// Uses a map from names to tensors.
    ///
    /// # Errors
    /// TypeError for other keys or values.
    pub fn from_map(map: MapObject) -> Result<Parameters> {
        for (key, value) in map.iter() {
            key.get::<String>()?;
            value.get::<Tensor>()?;
        }
        Ok(Parameters(map))
    }

    /// Returns the map from names to tensors.
    pub fn as_map(&self) -> &MapObject {
        &self.0
    }

    /// Returns the map from names to tensors, owned.
    pub fn into_map(self) -> MapObject {
        self.0
    }

    /// Returns the number of parameters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names and tensors, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Tensor)> {
        self.0.iter().filter_map(|(name, tensor)| {
            let tensor = tensor.as_object().and_then(ObjectRef::as_class::<Tensor>)?;
            Some((name.as_view().bytes_of_string()?, tensor))
        })
    }

    /// Returns the tensor with this name; `None` if there is none.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<&Tensor> {
        self.iter().find(|(key, _)| *key == name.as_ref()).map(|(_, tensor)| tensor)
    }
}

/// Reads the names, then as many tensors.
fn read(source: &Source) -> Result<MapObject> {
    let mut reader = Reader::new(source.as_bytes());
    let (magic, _reserved) = (reader.u64()?, reader.u64()?);
    if magic != MAGIC {
        return Err(reader.malformed());
    }
    let count = reader.count(8)?;
    let mut names = reader.clone();
    for _ in 0..count {
        reader.text()?;
    }
    if reader.size()? != count {
        return Err(reader.malformed());
    }
    let mut map = MapObject::with_capacity(count)?;
    for _ in 0..count {
        let len = names.size()?;
        let name = String::from_bytes(names.bytes(len)?)?;
        map.insert(name.into(), read_tensor(&mut reader, source)?.into())?;
    }
    Ok(map)
}

/// Returns the error of a file of parameters in upstream's words. Memory errors are returned
/// unchanged.
fn described(error: Error) -> Error {
    if error.kind_bytes() == b"MemoryError" {
        return error;
    }
    plain_error!(INTERNAL_ERROR, "Invalid parameters file format")
}

/// Implements `runtime.LoadParams`, which takes the bytes of a file and returns a map.
///
/// # Errors
/// TypeError for another argument; errors of [`Parameters::read`].
#[cfg(feature = "all-builtins")]
pub(crate) fn load_params(bytes: Bytes) -> Result<MapObject> {
    Ok(Parameters::read(Source::Bytes(bytes))?.0)
}

/// Implements `runtime.LoadParamsFromFile`, which takes a path and returns a map.
///
/// # Errors
/// TypeError for another argument; errors of [`Parameters::load`].
#[cfg(feature = "std")]
pub(crate) fn load_params_from_file(path: String) -> Result<MapObject> {
    Ok(Parameters::read(Source::Bytes(crate::module::read_file(crate::module::path(&path)?)?))?.0)
}
