//! ELF modules (the program and its libraries) loaded into the process, as listed by the dynamic
//! linker.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::slice;

use libc::dl_phdr_info;

#[cfg(target_pointer_width = "64")]
pub(super) type ProgramHeader = libc::Elf64_Phdr;
#[cfg(target_pointer_width = "32")]
pub(super) type ProgramHeader = libc::Elf32_Phdr;

/// A loaded ELF file. Valid as long as the file stays loaded, which is certain while its code is on
/// the stack.
#[derive(Clone, Copy)]
pub(super) struct Module {
    /// Load offset: difference between addresses in memory and addresses in the file.
    pub base: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    header_count: usize,
}

impl Module {
    /// Returns the module that contains `address`. Takes the dynamic linker's lock; allocates
    /// nothing.
    pub(super) fn containing(address: usize) -> Option<Module> {
        let mut search = Search { address, found: None };
        // SAFETY: the callback gets this search, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    }

    /// Returns the path of the file; `None` for the main program.
    pub(super) fn path(&self) -> Option<&CStr> {
        if self.name.is_null() {
            return None;
        }
        // SAFETY: the linker's names end in a NUL and live as long as the module.
        Some(unsafe { CStr::from_ptr(self.name) }).filter(|name| !name.is_empty())
    }

    /// Returns the program headers in memory.
    pub(super) fn headers(&self) -> &[ProgramHeader] {
        if self.headers.is_null() {
            return &[];
        }
        // SAFETY: the linker guarantees the table, which lives as long as the module.
        unsafe { slice::from_raw_parts(self.headers, self.header_count) }
    }

    /// Returns the readable bytes of the loaded segment that contains `address`.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn segment(&self, address: usize) -> Option<&[u8]> {
        let header = self.headers().iter().find(|header| self.loads(header, address))?;
        if header.p_flags & libc::PF_R == 0 {
            return None;
        }
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        // SAFETY: the linker mapped the segment there, readable. Its tables are never written.
        Some(unsafe {
            slice::from_raw_parts(
                core::ptr::with_exposed_provenance(start),
                header.p_memsz as usize,
            )
        })
    }

    fn loads(&self, header: &ProgramHeader, address: usize) -> bool {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        header.p_type == libc::PT_LOAD && address.wrapping_sub(start) < header.p_memsz as usize
    }
}

/// Returns counters that change whenever a module is loaded or unloaded. Returns `None` if the
/// dynamic linker has no such counters.
pub(super) fn generation() -> Option<[u64; 2]> {
    unsafe extern "C" fn first(info: *mut dl_phdr_info, size: usize, out: *mut c_void) -> c_int {
        if size >= core::mem::offset_of!(dl_phdr_info, dlpi_subs) + size_of::<u64>() {
            // SAFETY: the linker passes a record of that size, and `generation` the place for the
            // result.
            unsafe {
                *out.cast::<Option<[u64; 2]>>() = Some([(*info).dlpi_adds, (*info).dlpi_subs])
            };
        }
        1
    }
    let mut counts = None;
    // SAFETY: the callback gets the place for its result.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut counts).cast()) };
    counts
}

struct Search {
    address: usize,
    found: Option<Module>,
}

unsafe extern "C" fn look(info: *mut dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the linker passes a valid record, and `Module::containing` its search.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    let module = Module {
        base: info.dlpi_addr as usize,
        name: info.dlpi_name,
        headers: info.dlpi_phdr,
        header_count: usize::from(info.dlpi_phnum),
    };
    if module.headers().iter().any(|header| module.loads(header, search.address)) {
        search.found = Some(module);
    }
    c_int::from(search.found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_the_program_and_the_stack_to_nobody() {
        let module = Module::containing(generation as *const () as usize).unwrap();
        assert!(module.path().is_none() && !module.headers().is_empty());
        let local = 0;
        assert!(Module::containing((&raw const local).addr()).is_none());
    }

    #[test]
    fn the_generation_changes_when_a_library_comes() {
        let before = generation().unwrap();
        assert_eq!(generation(), Some(before));
        // SAFETY: a library without side effects at load.
        let library = unsafe { libc::dlopen(c"libresolv.so.2".as_ptr(), libc::RTLD_LAZY) };
        if !library.is_null() {
            assert_ne!(generation(), Some(before));
        }
    }
}
