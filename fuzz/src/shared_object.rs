//! Shared objects as files in memory: a context slot, a function, and an import tree of modules,
//! which may be damaged.
//!
//! The tree is written as `alloc-ext/src/module/library_bin.rs` describes it. The ELF file around
//! it is always sound, since the loader of the system trusts it; `tests/robustness/bad_files` has
//! damaged ones.

use std::ffi::CString;

use crate::code::coded;
use crate::payloads::Payload;

coded! {
    /// A module of an import tree.
    pub struct Part {
        pub kind: u8,
        pub payload: Payload,
    }
}

coded! {
    /// A word of an import tree that is replaced, by the number of the word, and the new value,
    /// which is a small number or, without sign, a huge one.
    pub struct Damage {
        pub word: u8,
        pub value: i8,
    }
}

coded! {
    /// A shared object.
    pub struct SharedObject {
        /// Whether there is an import tree; otherwise the object is one module.
        pub has_tree: bool,
        pub parts: Vec<Part>,
        /// Imports: the number of the importing module, times 16, plus that of the imported one.
        pub imports: Vec<u8>,
        pub damage: Vec<Damage>,
        /// Number of bytes that are missing at the end.
        pub cut: u8,
    }
}

/// Kinds of modules. The first is that of the functions of the object; the second that of a loader
/// that programs register.
pub const KINDS: &[&str] = &[
    "_lib",
    "fuzz",
    "missing",
    "",
    "opencl",
    "cuda",
    "hip",
    "hsaco",
    "metal",
    "webgpu",
    "vulkan",
    "relax.VMExecutable",
];

/// A file in memory, which lives as long as it is open.
#[derive(Debug)]
pub struct MemoryFile {
    descriptor: i32,
    pub path: CString,
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor is owned.
        unsafe { libc::close(self.descriptor) };
    }
}

impl Part {
    fn kind(&self) -> &'static str {
        crate::texts::choose(KINDS, self.kind)
    }
}

/// An import tree as it is written, and where its words are.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    words: Vec<usize>,
}

impl Writer {
    fn word(&mut self, word: usize) {
        self.words.push(self.bytes.len());
        self.bytes.extend((word as u64).to_le_bytes());
    }

    fn words(&mut self, words: &[usize]) {
        self.word(words.len());
        words.iter().for_each(|word| self.word(*word));
    }

    fn text(&mut self, text: &[u8]) {
        self.word(text.len());
        self.bytes.extend(text);
    }
}

impl SharedObject {
    /// Returns `true` if a module has code for a device.
    pub fn has_device(&self) -> bool {
        self.parts.iter().any(|part| crate::limits::DEVICES.contains(&part.kind()))
    }

    /// Returns the import tree, behind its length.
    fn tree(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let (mut rows, mut children) = (vec![0], Vec::new());
        for number in 0..self.parts.len() {
            let of_this = self
                .imports
                .iter()
                .filter(|pair| usize::from(**pair / 16) % self.parts.len() == number);
            children.extend(of_this.map(|pair| usize::from(pair % 16) % self.parts.len()));
            rows.push(children.len());
        }
        to.words(&rows);
        to.words(&children);
        for part in &self.parts {
            to.text(part.kind().as_bytes());
            if part.kind() != "_lib" {
                to.text(&part.payload.bytes());
            }
        }
        let Writer { mut bytes, words } = to;
        for damage in &self.damage {
            let at = words[usize::from(damage.word) % words.len()];
            bytes[at..at + 8].copy_from_slice(&i64::from(damage.value).to_le_bytes());
        }
        bytes.truncate(bytes.len().saturating_sub(self.cut.into()));
        let mut out = (bytes.len() as u64).to_le_bytes().to_vec();
        out.extend(bytes);
        out
    }

    /// Returns the shared object as the content of a file.
    pub fn file(&self) -> Vec<u8> {
        let tree = if self.has_tree { self.tree() } else { Vec::new() };
        let mut symbols: Vec<(&str, u8, usize)> = vec![
            ("__tvm_ffi_fuzz_a", elf::FUNCTION, elf::CODE_AT),
            ("__tvm_ffi__library_ctx", elf::OBJECT, elf::SLOT_AT),
        ];
        if self.has_tree {
            symbols.push(("__tvm_ffi__library_bin", elf::OBJECT, elf::DATA_AT));
        }
        elf::file(&symbols, &tree)
    }

    /// Opens a file in memory with the shared object.
    pub fn open(&self) -> Option<MemoryFile> {
        open(&self.file())
    }
}

/// Opens a file in memory. Each has a name of its own in a run: the system's loader takes a name
/// that is loaded for the same object.
#[cfg(target_os = "linux")]
fn open(content: &[u8]) -> Option<MemoryFile> {
    use std::sync::atomic::{AtomicI32, Ordering};
    static OPENED: AtomicI32 = AtomicI32::new(0);
    /// Descriptors above those that a process has otherwise, within its limit.
    const FIRST: i32 = 100;
    let least = FIRST + OPENED.fetch_add(1, Ordering::Relaxed) % 800;
    // SAFETY: names, descriptors and content are valid; each descriptor is closed once.
    unsafe {
        let made = libc::memfd_create(c"module".as_ptr(), 0);
        let descriptor = libc::fcntl(made, libc::F_DUPFD_CLOEXEC, least);
        libc::close(made);
        if descriptor < 0 {
            return None;
        }
        let path = CString::new(format!("/proc/self/fd/{descriptor}")).ok()?;
        let file = MemoryFile { descriptor, path };
        let written = libc::write(descriptor, content.as_ptr().cast(), content.len());
        (written == content.len() as isize).then_some(file)
    }
}

#[cfg(not(target_os = "linux"))]
fn open(_: &[u8]) -> Option<MemoryFile> {
    None
}

/// The parts of an ELF file that the system's loader needs: one segment with everything, and a
/// table of symbols.
mod elf {
    pub(super) const OBJECT: u8 = 1;
    pub(super) const FUNCTION: u8 = 2;

    /// Place of the code: a function that returns 0, and does not write the result.
    pub(super) const CODE_AT: usize = 0x100;
    /// Place of the context slot.
    pub(super) const SLOT_AT: usize = 0x110;
    /// Place of the data.
    pub(super) const DATA_AT: usize = 0x400;

    const DYNAMIC_AT: usize = 0x120;
    const SYMBOLS_AT: usize = 0x1a0;
    const HASH_AT: usize = 0x220;
    const NAMES_AT: usize = 0x260;

    #[cfg(target_arch = "x86_64")]
    const CODE: &[u8] = &[0x31, 0xc0, 0xc3];
    #[cfg(target_arch = "x86_64")]
    const MACHINE: u16 = 62;
    #[cfg(target_arch = "aarch64")]
    const CODE: &[u8] = &[0x00, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6];
    #[cfg(target_arch = "aarch64")]
    const MACHINE: u16 = 183;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    const CODE: &[u8] = &[];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    const MACHINE: u16 = 0;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn halves(halves: &[u32]) -> Vec<u8> {
        halves.iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    fn header() -> Vec<u8> {
        let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        out.extend(3u16.to_le_bytes());
        out.extend(MACHINE.to_le_bytes());
        out.extend(1u32.to_le_bytes());
        // No entry; program headers behind this one; no sections.
        out.extend(words(&[0, 64, 0]));
        out.extend(0u32.to_le_bytes());
        out.extend([64u16, 56, 3, 64, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
        out
    }

    /// A program header with equal place and address.
    fn segment(kind: u32, flags: u32, at: usize, size: usize, align: u64) -> Vec<u8> {
        let (at, size) = (at as u64, size as u64);
        [halves(&[kind, flags]), words(&[at, at, at, size, size, align])].concat()
    }

    /// Returns a file with these symbols, of which each has a name, a type and a place.
    pub(super) fn file(symbols: &[(&str, u8, usize)], data: &[u8]) -> Vec<u8> {
        let mut names = vec![0];
        let mut table = vec![0; 24];
        for (name, kind, at) in symbols {
            table.extend((names.len() as u32).to_le_bytes());
            // Global; of any section.
            table.extend([0x10 | kind, 0, 1, 0]);
            table.extend(words(&[*at as u64, 8]));
            names.extend(name.bytes());
            names.push(0);
        }
        let count = symbols.len() as u32;
        // One bucket, with a chain through all symbols.
        let chain = (1..=count).map(|next| if next == count { 0 } else { next + 1 });
        let hash: Vec<u32> = [1, count + 1, 1, 0].into_iter().chain(chain).collect();
        let dynamic =
            [[4, HASH_AT], [5, NAMES_AT], [6, SYMBOLS_AT], [10, names.len()], [11, 24], [0, 0]];
        let dynamic = words(&dynamic.concat().iter().map(|word| *word as u64).collect::<Vec<_>>());
        let mut out = vec![0; DATA_AT];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        let size = DATA_AT + data.len();
        put(0, &header());
        put(64, &segment(1, 7, 0, size, 0x1000));
        put(64 + 56, &segment(2, 6, DYNAMIC_AT, dynamic.len(), 8));
        // The stack stays without code.
        put(64 + 112, &segment(0x6474_e551, 6, 0, 0, 16));
        put(CODE_AT, CODE);
        put(DYNAMIC_AT, &dynamic);
        put(SYMBOLS_AT, &table);
        put(HASH_AT, &halves(&hash));
        put(NAMES_AT, &names);
        out.extend(data);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_loads_a_shared_object() {
        let object =
            SharedObject { has_tree: true, parts: vec![], imports: vec![], damage: vec![], cut: 0 };
        let file = object.open().expect("a file in memory");
        // SAFETY: the object has no code that runs at once; its symbols are data of at least eight
        // bytes, and a function.
        unsafe {
            let library = libc::dlopen(file.path.as_ptr(), libc::RTLD_NOW);
            assert!(!library.is_null());
            let tree = libc::dlsym(library, c"__tvm_ffi__library_bin".as_ptr()).cast::<[u64; 4]>();
            assert_eq!(tree.read_unaligned(), [24, 1, 0, 0]);
            let function = libc::dlsym(library, c"__tvm_ffi_fuzz_a".as_ptr());
            let function =
                std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(function);
            assert_eq!(function(), 0);
            assert!(!libc::dlsym(library, c"__tvm_ffi__library_ctx".as_ptr()).is_null());
            assert_eq!(libc::dlclose(library), 0);
        }
    }
}
