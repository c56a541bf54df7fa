//! A shared object of symbols with absolute addresses, which is written to memory and opened from
//! there. It contains no code.
//!
//! Its name for the dynamic linker is `libtvm_ffi.so`, so libraries with that dependency search for
//! no file. musl's linker knows no such names, and finds a file of the dependency's name.
//!
//! musl's linker, and glibc's before 2.28, add the address of the object to absolute symbols. It is
//! known when the object is open, and then subtracted from the symbols in memory.

use core::ffi::{CStr, c_void};
use core::mem::{MaybeUninit, size_of};
use core::slice;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

#[cfg(target_pointer_width = "32")]
use libc::{Elf32_Ehdr as Header, Elf32_Phdr as Segment, Elf32_Sym as Entry};
#[cfg(target_pointer_width = "64")]
use libc::{Elf64_Ehdr as Header, Elf64_Phdr as Segment, Elf64_Sym as Entry};

use ferrite_core::platform::memory::{AllocError, Buffer};

use super::super::loading::apart_from_forks;
use super::symbol::Symbol;

/// Name of the object.
const NAME: &CStr = c"libtvm_ffi.so";

/// Section index of symbols with absolute addresses.
const ABSOLUTE: u16 = 0xfff1;
/// Binding and type of global functions.
const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;

// Tags of the dynamic section.
const HASH: usize = 4;
const STRING_TABLE: usize = 5;
const SYMBOL_TABLE: usize = 6;
const STRING_BYTES: usize = 10;
const SYMBOL_BYTES: usize = 11;
const SONAME: usize = 14;

/// Opens an object with these symbols, which stays open. Does nothing if the system refuses.
pub(super) fn load(symbols: &[Symbol]) {
    let Some(file) = header().and_then(|header| write(&Image::new(header, symbols).ok()?)) else {
        return;
    };
    // Room for every number of a file.
    let mut path = [0_u8; 32];
    if write!(&mut path[..], "/proc/self/fd/{}\0", file.as_raw_fd()).is_err() {
        return;
    }
    let open = |scope| {
        // SAFETY: the path ends in a NUL; the object has no initialisers.
        unsafe { libc::dlopen(path.as_ptr().cast(), libc::RTLD_NOW | scope) }
    };
    apart_from_forks(|| {
        // Nobody finds the symbols before their addresses are right.
        let object = open(libc::RTLD_LOCAL);
        if !object.is_null() {
            // SAFETY: the object is an image of these symbols, and is never closed.
            unsafe { correct(object, symbols) };
            open(libc::RTLD_GLOBAL);
        }
    });
}

/// Subtracts the address of an object from its symbols if the dynamic linker adds it.
///
/// # Safety
/// `object` must be the open image of the symbols, which no other code uses yet.
unsafe fn correct(object: *mut c_void, symbols: &[Symbol]) {
    let Some(first) = symbols.first() else { return };
    // SAFETY: the object is open, and the name ends in a NUL.
    let found = unsafe { libc::dlsym(object, first.name().as_ptr()) };
    let base = found.addr().wrapping_sub(first.address().addr());
    if found.is_null() || base == 0 {
        return;
    }
    // The empty symbol is the first one in the table.
    let at = base + Layout::new(symbols.len() + 1, 0).symbols + size_of::<Entry>();
    let entries = core::ptr::with_exposed_provenance_mut::<Entry>(at);
    for (index, symbol) in symbols.iter().enumerate() {
        let address = symbol.address().addr().wrapping_sub(base);
        // SAFETY: the image's only segment, which is writable, begins at the object's address, and
        // has an entry for each symbol.
        unsafe { (*entries.add(index)).st_value = address as _ };
    }
}

/// Returns the header of the program or library with this code, which names the processor and its
/// calling convention.
fn header() -> Option<Header> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the record is a local variable. An object begins with its header.
    unsafe {
        let status = libc::dladdr(load as *const c_void, found.as_mut_ptr());
        (status != 0).then(|| found.assume_init().dli_fbase.cast::<Header>().read())
    }
}

/// Writes an image to a file in memory.
fn write(image: &Image) -> Option<File> {
    // The function of that name needs glibc 2.27.
    // SAFETY: the name ends in a NUL.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_memfd_create, NAME.as_ptr(), libc::MFD_CLOEXEC) }
            as libc::c_int;
    // SAFETY: a new descriptor, which the file owns.
    let mut file = (descriptor >= 0).then(|| unsafe { File::from_raw_fd(descriptor) })?;
    file.write_all(&image.bytes).ok()?;
    Some(file)
}

/// Positions of the parts in an image.
struct Layout {
    dynamic: usize,
    symbols: usize,
    hash: usize,
    strings: usize,
    end: usize,
}

impl Layout {
    /// Arranges the parts behind the header and three segments. `names` is the length of all
    /// strings.
    fn new(count: usize, names: usize) -> Layout {
        let dynamic = size_of::<Header>() + 3 * size_of::<Segment>();
        let symbols = dynamic + 7 * size_of::<[usize; 2]>();
        let hash = symbols + count * size_of::<Entry>();
        let strings = hash + (3 + count) * size_of::<u32>();
        Layout { dynamic, symbols, hash, strings, end: strings + names }
    }
}

/// Content of a shared object.
struct Image {
    bytes: Buffer<u8>,
}

impl Image {
    /// Creates the image of an object for the processor of `header`.
    fn new(header: Header, symbols: &[Symbol]) -> Result<Image, AllocError> {
        let names: usize = symbols.iter().map(|symbol| symbol.name().count_bytes() + 1).sum();
        let name_at = 1 + names;
        // The first symbol and the first string are empty.
        let count = 1 + symbols.len();
        let layout = Layout::new(count, name_at + NAME.count_bytes() + 1);
        let mut image = Image { bytes: Buffer::try_with_capacity(layout.end)? };
        image.put_header(header)?;
        image.put_segments(&layout)?;
        image.put_dynamic(&layout, name_at)?;
        image.put_symbols(symbols)?;
        image.put_hash(count)?;
        image.put(&[0_u8])?;
        for name in symbols.iter().map(|symbol| symbol.name()).chain([NAME]) {
            image.put(name.to_bytes_with_nul())?;
        }
        Ok(image)
    }

    /// Appends the memory of plain values.
    fn put<T: Plain>(&mut self, values: &[T]) -> Result<(), AllocError> {
        // SAFETY: plain values are initialised in every byte.
        let bytes = unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) };
        self.bytes.try_extend_from_slice(bytes)
    }

    fn put_header(&mut self, program: Header) -> Result<(), AllocError> {
        let mut header = program;
        header.e_type = libc::ET_DYN;
        header.e_entry = 0;
        header.e_phoff = size_of::<Header>() as _;
        header.e_phnum = 3;
        header.e_shoff = 0;
        header.e_shnum = 0;
        header.e_shstrndx = 0;
        self.put(&[header])
    }

    fn put_segments(&mut self, layout: &Layout) -> Result<(), AllocError> {
        // SAFETY: takes a number only.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        self.put(&[
            // Writable, since the dynamic linker relocates the dynamic section.
            segment(libc::PT_LOAD, 0, layout.end, page as usize),
            segment(
                libc::PT_DYNAMIC,
                layout.dynamic,
                layout.symbols - layout.dynamic,
                size_of::<usize>(),
            ),
            // Says that the stack need not be executable.
            segment(libc::PT_GNU_STACK, 0, 0, size_of::<usize>()),
        ])
    }

    fn put_dynamic(&mut self, layout: &Layout, name_at: usize) -> Result<(), AllocError> {
        self.put(&[
            [SONAME, name_at],
            [HASH, layout.hash],
            [STRING_TABLE, layout.strings],
            [SYMBOL_TABLE, layout.symbols],
            [STRING_BYTES, layout.end - layout.strings],
            [SYMBOL_BYTES, size_of::<Entry>()],
            [0, 0],
        ])
    }

    fn put_symbols(&mut self, symbols: &[Symbol]) -> Result<(), AllocError> {
        // SAFETY: zeros are valid for this record of numbers.
        let empty: Entry = unsafe { core::mem::zeroed() };
        self.put(&[empty])?;
        let mut name = 1;
        for symbol in symbols {
            let mut entry = empty;
            entry.st_name = name;
            entry.st_info = GLOBAL_FUNCTION;
            entry.st_shndx = ABSOLUTE;
            entry.st_value = symbol.address().addr() as _;
            self.put(&[entry])?;
            name += symbol.name().count_bytes() as u32 + 1;
        }
        Ok(())
    }

    /// Appends a hash table with one bucket, which chains all symbols.
    fn put_hash(&mut self, count: usize) -> Result<(), AllocError> {
        let count = count as u32;
        self.put(&[1, count, if count > 1 { 1 } else { 0 }])?;
        for index in 0..count {
            self.put(&[if index == 0 || index + 1 == count { 0 } else { index + 1 }])?;
        }
        Ok(())
    }
}

/// Creates a segment that is loaded as it lies in the file.
fn segment(kind: u32, at: usize, bytes: usize, align: usize) -> Segment {
    // SAFETY: zeros are valid for this record of numbers.
    let mut segment: Segment = unsafe { core::mem::zeroed() };
    segment.p_type = kind;
    segment.p_flags = libc::PF_R | libc::PF_W;
    segment.p_offset = at as _;
    segment.p_vaddr = at as _;
    segment.p_paddr = at as _;
    segment.p_filesz = bytes as _;
    segment.p_memsz = bytes as _;
    segment.p_align = align as _;
    segment
}

/// Values without padding.
///
/// # Safety
/// Every byte of a value must be initialised.
unsafe trait Plain {}
// SAFETY: numbers.
unsafe impl Plain for u8 {}
// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: numbers.
unsafe impl Plain for [usize; 2] {}
// SAFETY: the fields of the ELF records leave no gap.
unsafe impl Plain for Header {}
// SAFETY: as above.
unsafe impl Plain for Segment {}
// SAFETY: as above.
unsafe impl Plain for Entry {}
