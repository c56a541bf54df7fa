//! Content of modules: strings, or files of the tests with edits, so that all parts of a format are
//! reached.

use crate::code::coded;
use crate::texts::Text;

macro_rules! file {
    ($path:literal) => {
        include_bytes!(concat!("../../tests/programs/", $path))
    };
}

/// Modules of each kind, as TVM's compiler wrote them. Their numbers are part of the code of
/// programs: append only.
const FILES: &[&[u8]] = &[
    file!("device/opencl/module.bin"),
    file!("device/payloads/cuda.bin"),
    file!("device/payloads/hip.bin"),
    file!("device/payloads/metal.bin"),
    file!("device/webgpu/module.bin"),
    file!("device/vulkan/module.bin"),
    file!("relax/models/control/bytecode.vm"),
    file!("relax/models/mlp_dyn/bytecode.vm"),
];

coded! {
    /// A change of a file.
    pub struct Edit {
        pub at: u16,
        /// Inserts, removes, replaces or, rarely, ends the file.
        pub operation: u8,
        pub byte: u8,
    }
}

coded! {
    /// Content of a module.
    pub enum Payload {
        Text { text: Text },
        File { file: u8, edits: Vec<Edit> },
    }
}

impl Payload {
    /// Returns the content.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text { text } => text.0.clone(),
            Self::File { file, edits } => {
                let mut bytes = crate::texts::choose(FILES, *file).to_vec();
                edits.iter().for_each(|edit| edit.apply(&mut bytes));
                bytes
            }
        }
    }
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let at = usize::from(self.at) % (bytes.len() + 1);
        match self.operation % 4 {
            0 => bytes.insert(at, self.byte),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] = self.byte,
            3 if self.operation == 255 => bytes.truncate(at),
            _ => {}
        }
    }
}
