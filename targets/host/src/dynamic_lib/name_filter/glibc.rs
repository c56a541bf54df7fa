//! Name filter for glibc: rules out rarely defined names, such as context symbols, without calling
//! `dlsym`.
//!
//! Reads the Bloom filter in the object's GNU hash table, with which the dynamic linker begins a
//! lookup. Names that pass the filter, and objects without such a table, are looked up by `dlsym`.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{self, NonNull};
use core::slice;

/// Names of system libraries that, like their dependencies, define no rare names. File names must
/// match exactly, since a kernel library may be called `libm.so.kernels`.
#[rustfmt::skip]
const FILES_WITHOUT_RARE_NAMES: &[&CStr] = &[
    c"libtvm_ffi.so", c"libc.so.6", c"libm.so.6", c"libdl.so.2", c"libpthread.so.0", c"librt.so.1", c"libgcc_s.so.1",
    c"libstdc++.so.6", c"ld-linux-x86-64.so.2", c"ld-linux-aarch64.so.1", c"ld-linux-riscv64-lp64d.so.1",
    c"ld-linux-loongarch-lp64d.so.1", c"ld64.so.1", c"ld64.so.2",
];

// Tags of the dynamic section.
const END: usize = 0;
const NEEDED: usize = 1;
const STRING_TABLE: usize = 5;
const GNU_HASH: usize = 0x6fff_fef5;
const AUXILIARY: usize = 0x7fff_fffd;
const FILTER: usize = 0x7fff_ffff;

/// Leading fields of the dynamic linker's `struct link_map`. They do not change while the object is
/// open.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const Entry,
}

/// Entry of the dynamic section: a tag and a value.
#[repr(C)]
struct Entry {
    tag: usize,
    value: usize,
}

/// Header of a GNU hash table. The words of the Bloom filter follow it.
#[repr(C)]
struct Header {
    bucket_count: u32,
    first_symbol: u32,
    word_count: u32,
    shift: u32,
}

/// Bloom filter over the names that an open object defines. A filter exists only if the object's
/// dependencies define no rare names.
pub(in super::super) struct NameFilter {
    words: NonNull<[u64]>,
    shift: u32,
}

impl NameFilter {
    /// Returns the filter of an open object. Returns `None` if the object has no filter, or if its
    /// dependencies may define rare names.
    ///
    /// # Safety
    /// The handle must come from `dlopen`. The filter must not be used after the handle is closed.
    pub(in super::super) unsafe fn of(handle: NonNull<c_void>) -> Option<NameFilter> {
        let mut map: *const LinkMap = ptr::null();
        // SAFETY: the handle is open, and this request writes one pointer.
        let status =
            unsafe { libc::dlinfo(handle.as_ptr(), libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) };
        if status != 0 {
            return None;
        }
        // SAFETY: the request returned the linker's entry of the object.
        let LinkMap { base, name, dynamic } = unsafe { map.read() };
        // The main program has no name. A lookup in it also searches all objects that were opened
        // globally.
        // SAFETY: the linker's names end in a NUL.
        if name.is_null() || unsafe { name.read() } == 0 {
            return None;
        }
        // SAFETY: the section of a loaded object, which stays as long as the handle is open.
        unsafe { NameFilter::of_section(base, section(dynamic)) }
    }

    /// Returns the filter of an object, given the load offset and the dynamic section.
    ///
    /// # Safety
    ///
    /// `section` must be the dynamic section of a loaded object.
    unsafe fn of_section(base: usize, section: &[Entry]) -> Option<NameFilter> {
        let find = |tag| {
            address(
                base,
                section.as_ptr().addr(),
                section.iter().find(|entry| entry.tag == tag)?.value,
            )
        };
        let strings: *const c_char = ptr::with_exposed_provenance(find(STRING_TABLE)?);
        let only_its_own = section.iter().all(|entry| match entry.tag {
            // SAFETY: the value is the offset of a string in the table of strings.
            NEEDED => lacks_rare_names(unsafe { CStr::from_ptr(strings.add(entry.value)) }),
            tag => tag != AUXILIARY && tag != FILTER,
        });
        if !only_its_own {
            return None;
        }
        // SAFETY: the tag guarantees that the hash table is there.
        unsafe { NameFilter::of_table(ptr::with_exposed_provenance(find(GNU_HASH)?)) }
    }

    /// Returns the filter in a hash table, or `None` if the table is malformed.
    ///
    /// # Safety
    /// `table` must point to a hash table that is never written.
    unsafe fn of_table(table: *const Header) -> Option<NameFilter> {
        if !table.cast::<u64>().is_aligned() {
            return None;
        }
        // SAFETY: the caller guarantees the table.
        let Header { word_count, shift, .. } = unsafe { table.read() };
        if !word_count.is_power_of_two() || shift >= u32::BITS {
            return None;
        }
        // SAFETY: the words follow the header in the same table.
        let words = NonNull::new(unsafe { table.add(1) }.cast_mut().cast())?;
        Some(NameFilter { words: NonNull::slice_from_raw_parts(words, word_count as usize), shift })
    }

    /// Returns `true` if `dlsym` would certainly not find the name.
    pub(in super::super) fn lacks(&self, name: &CStr) -> bool {
        is_rare(name) && !self.may_have(name)
    }

    fn may_have(&self, name: &CStr) -> bool {
        // SAFETY: the object is open (contract of `of`), and its table is never written.
        let words = unsafe { self.words.as_ref() };
        let hash = hash(name);
        let word = words[(hash / u64::BITS) as usize & (words.len() - 1)];
        [hash, hash >> self.shift].iter().all(|bit| word >> (bit % u64::BITS) & 1 == 1)
    }
}

/// Returns the entries of a dynamic section.
///
/// # Safety
/// The section must stay mapped and unwritten while the result is used.
unsafe fn section<'a>(first: *const Entry) -> &'a [Entry] {
    let mut len = 0;
    // SAFETY: an entry with this tag ends every section.
    while unsafe { (*first.add(len)).tag } != END {
        len += 1;
    }
    // SAFETY: the loop has just read `len` entries.
    unsafe { slice::from_raw_parts(first, len) }
}

/// Converts an address in the dynamic section to an address in memory. If the dynamic linker can
/// write to the section, it has already relocated the address by `base`; otherwise it is a
/// link-time address. The interpretation that lies near the section is the right one.
fn address(base: usize, section: usize, value: usize) -> Option<usize> {
    const NEAR: usize = 32 << 20;
    let is_near = |address: usize| address.abs_diff(section) < NEAR;
    let moved = base.wrapping_add(value);
    match (is_near(value), is_near(moved)) {
        (true, false) => Some(value),
        (false, true) => Some(moved),
        (true, true) if base == 0 => Some(value),
        _ => None,
    }
}

/// Returns `true` for names reserved by TVM that few libraries define. Other names are usually
/// defined, so the filter would only add to the cost of `dlsym`.
fn is_rare(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(b"__TVM") || name.starts_with(b"__tvm_ffi__")
}

/// Returns `true` if the file is one of [`FILES_WITHOUT_RARE_NAMES`].
fn lacks_rare_names(file: &CStr) -> bool {
    FILES_WITHOUT_RARE_NAMES.contains(&file)
}

/// Returns the hash of a name in GNU hash tables.
fn hash(name: &CStr) -> u32 {
    name.to_bytes()
        .iter()
        .fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[repr(C, align(8))]
    struct Table<const N: usize> {
        header: Header,
        words: [u64; N],
    }

    /// Builds a filter that contains the names.
    fn table<const N: usize>(shift: u32, names: &[&CStr]) -> Table<N> {
        let header = Header { bucket_count: 1, first_symbol: 1, word_count: N as u32, shift };
        let mut words = [0; N];
        for hash in names.iter().map(|name| hash(name)) {
            let word = &mut words[hash as usize / 64 % N];
            *word |= 1 << (hash % 64) | 1 << ((hash >> shift) % 64);
        }
        Table { header, words }
    }

    fn filter<const N: usize>(table: &Table<N>) -> Option<NameFilter> {
        // SAFETY: the table outlives the filter, and is not written.
        unsafe { NameFilter::of_table(ptr::from_ref(table).cast()) }
    }

    #[test]
    fn the_hash_is_that_of_the_format() {
        assert_eq!(hash(c""), 0x1505);
        assert_eq!(hash(c"printf"), 0x156b_2bb8);
        assert_eq!(hash(c"syscall"), 0xbac2_12a0);
    }

    #[test]
    fn only_rare_names_that_are_not_there_are_lacking() {
        let table = table::<4>(6, &[c"__TVMFFIFunctionCall", c"__tvm_ffi__library_ctx"]);
        let filter = filter(&table).unwrap();
        assert!(!filter.lacks(c"__TVMFFIFunctionCall"));
        assert!(!filter.lacks(c"__tvm_ffi__library_ctx"));
        assert!(filter.lacks(c"__tvm_ffi__library_bin"));
        assert!(filter.lacks(c"__TVMBackendParallelLaunch"));
        for often_there in [c"__tvm_ffi_add", c"malloc", c""] {
            assert!(!filter.may_have(often_there) && !filter.lacks(often_there));
        }
    }

    #[test]
    fn tables_against_the_format_are_not_used() {
        assert!(filter(&table::<3>(6, &[])).is_none());
        assert!(filter(&table::<4>(32, &[])).is_none());
        assert!(filter(&table::<0>(6, &[])).is_none());
    }

    #[test]
    fn values_that_were_moved_are_told_from_others() {
        let base = 0x7f00_0000_0000;
        let there = Some(base + 0x2000);
        assert_eq!(address(base, base + 0x9000, 0x2000), there);
        assert_eq!(address(base, base + 0x9000, base + 0x2000), there);
        // Linked at a high address, and loaded at another one, at a lower one, or at that one.
        let high = 0x5000_0000_2000;
        assert_eq!(address(base.wrapping_sub(high - 0x2000), base + 0x9000, high), there);
        assert_eq!(address(0, high + 0x7000, high), Some(high));
        // Ambiguous; too far away.
        assert_eq!(address(0x1000, 0x9000, 0x2000), None);
        assert_eq!(address(base, base + (1 << 30), 0x2000), None);
    }

    #[test]
    fn names_of_system_libraries_are_compared_whole() {
        for name in [c"libm.so.6", c"libtvm_ffi.so", c"ld-linux-x86-64.so.2"] {
            assert!(lacks_rare_names(name), "{name:?}");
        }
        for name in
            [c"libm.so.kernels", c"libm.so", c"libc.so.6.kernels", c"ld-linux-kernels.so", c""]
        {
            assert!(!lacks_rare_names(name), "{name:?}");
        }
    }

    #[cfg(not(miri))]
    #[test]
    fn objects_of_the_system_have_a_filter() {
        // SAFETY: the C math library may be loaded at any time.
        let handle =
            NonNull::new(unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_LAZY) }).unwrap();
        // SAFETY: the handle stays open meanwhile.
        let filter = unsafe { NameFilter::of(handle) }.unwrap();
        assert!(filter.may_have(c"sin") && filter.may_have(c"floor"));
        let names =
            (0..64).map(|number| CString::new(std::format!("__tvm_ffi__none_{number}")).unwrap());
        let lacking = names.filter(|name| filter.lacks(name)).count();
        assert!(lacking > 32, "a filter lets few names through: it holds back {lacking} of 64");
        // SAFETY: the filter is not used after this.
        unsafe { libc::dlclose(handle.as_ptr()) };
    }

    #[cfg(not(miri))]
    #[test]
    fn the_program_itself_has_none() {
        // SAFETY: opens the main program.
        let handle = NonNull::new(unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) }).unwrap();
        // SAFETY: the handle stays open.
        assert!(unsafe { NameFilter::of(handle) }.is_none());
    }
}
