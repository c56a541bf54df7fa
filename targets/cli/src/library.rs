//! Libraries as files: symbols, sections and sizes of ELF, Mach-O and PE files, read without
//! running them.

use std::path::Path;

use object::read::{ExportTarget, NameOrOrdinal};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::failure::{Failure, Outcome};
use crate::linker;

/// Prefix of the symbols of functions.
const FUNCTION: &str = "__tvm_ffi_";

/// A symbol that a file defines.
pub struct Defined {
    /// Name, without the underscore that Mach-O adds.
    pub name: String,
    address: u64,
    size: u64,
    section: Option<object::SectionIndex>,
    kind: SymbolKind,
}

/// A parsed file.
pub struct LibraryFile<'a> {
    file: object::File<'a>,
    defined: Vec<Defined>,
}

/// Size of a library file, and of its sections that are loaded into memory, in bytes.
#[derive(Debug, Default, serde::Serialize)]
pub struct Sizes {
    /// Size of the file.
    pub file: u64,
    /// Size of machine code.
    pub code: u64,
    /// Size of read-only data.
    pub read_only: u64,
    /// Size of initialised data.
    pub data: u64,
    /// Size of zero-initialised data.
    pub zeroed: u64,
}

impl Sizes {
    /// Adds the section sizes of another file. The file size is unchanged.
    pub fn add(&mut self, other: &Sizes) {
        self.code = self.code.saturating_add(other.code);
        self.read_only = self.read_only.saturating_add(other.read_only);
        self.data = self.data.saturating_add(other.data);
        self.zeroed = self.zeroed.saturating_add(other.zeroed);
    }
}

/// Reads a file.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) if it cannot be read.
pub fn read(path: &Path) -> Outcome<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))
}

/// Returns `true` for the bytes of an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n")
}

/// Fails unless a process of this machine can load the file at `path`.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a shared library, or one for
/// another processor; [`Kind::Load`](crate::failure::Kind::Load) if this program cannot load any.
pub fn require_loadable(path: &Path) -> Outcome<()> {
    if let Some(reason) = linker::ABSENT {
        return Err(Failure::load(reason));
    }
    let bytes = read(path)?;
    let file = LibraryFile::parse(path, &bytes)?;
    if file.is_for_this_machine() && file.role() == "shared library" {
        return Ok(());
    }
    let (role, container, architecture) = (file.role(), file.container(), file.architecture());
    let what = format!("{} is a {role} in {container} for {architecture}", path.display());
    let wanted = std::env::consts::ARCH;
    Err(Failure::input(format!(
        "{what}, and it must be loaded: give the shared library for {wanted}"
    )))
}

impl<'a> LibraryFile<'a> {
    /// Parses the bytes of the file at `path`.
    ///
    /// # Errors
    /// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a library, and for
    /// malformed or truncated ones.
    pub fn parse(path: &Path, bytes: &'a [u8]) -> Outcome<LibraryFile<'a>> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::input(format!("{} is not a library, or is truncated: {why}", path.display()))
        };
        if bytes.is_empty() {
            return Err(refuse(&"the file is empty"));
        }
        if is_archive(bytes) {
            let what =
                "is an archive, which only `ferrite inspect` reads: link it into a shared library";
            return Err(Failure::input(format!("{} {what}", path.display())));
        }
        let file = object::File::parse(bytes).map_err(|error| refuse(&error))?;
        for section in file.sections() {
            if let Err(error) = section.data() {
                let name = section.name().unwrap_or("without a readable name");
                return Err(refuse(&format!(
                    "the file is truncated: section {name} lies outside it ({error})"
                )));
            }
        }
        let defined = defined(&file);
        Ok(LibraryFile { file, defined })
    }

    /// Returns the container format, such as `ELF`.
    pub fn container(&self) -> &'static str {
        match self.file.format() {
            object::BinaryFormat::Elf => "ELF",
            object::BinaryFormat::MachO => "Mach-O",
            object::BinaryFormat::Pe => "PE",
            object::BinaryFormat::Coff => "COFF",
            _ => "other",
        }
    }

    /// Returns the processor for which the file was compiled.
    pub fn architecture(&self) -> String {
        format!("{:?}", self.file.architecture()).to_lowercase()
    }

    /// Returns the number of bits of an address.
    pub fn bits(&self) -> u32 {
        if self.file.is_64() { 64 } else { 32 }
    }

    /// Returns `true` for files of big-endian processors.
    pub fn is_big_endian(&self) -> bool {
        !self.file.is_little_endian()
    }

    /// Returns the role of the file, such as `shared library`.
    pub fn role(&self) -> &'static str {
        match self.file.kind() {
            ObjectKind::Dynamic => "shared library",
            ObjectKind::Executable => "program",
            ObjectKind::Relocatable => "relocatable object",
            ObjectKind::Core => "memory dump",
            _ => "unknown",
        }
    }

    /// Returns `true` if a process on this machine can load the file.
    pub fn is_for_this_machine(&self) -> bool {
        let system = if cfg!(target_os = "macos") {
            "Mach-O"
        } else if cfg!(windows) {
            "PE"
        } else {
            "ELF"
        };
        self.container() == system && self.architecture() == std::env::consts::ARCH
    }

    /// Returns the names of the libraries that the file links. Omits names that cannot be read.
    pub fn dependencies(&self) -> Vec<String> {
        let libraries = self.file.import_libraries().into_iter().flatten().flatten();
        let mut names: Vec<_> = libraries.map(|library| text(library.name())).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Returns the names of the functions, without their prefix, sorted.
    pub fn functions(&self) -> Vec<String> {
        let names = self.defined.iter().filter_map(|symbol| symbol.name.strip_prefix(FUNCTION));
        // A second underscore is for the library's own records.
        names.filter(|name| !name.is_empty() && !name.starts_with('_')).map(String::from).collect()
    }

    /// Returns `true` if the file defines a symbol.
    pub fn defines(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the names of all symbols that the file defines, sorted.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.defined.iter().map(|symbol| symbol.name.as_str())
    }

    /// Returns `true` if a symbol is data; `false` for functions, and in formats without symbol
    /// types.
    pub fn is_data(&self, name: &str) -> bool {
        match self.find(name) {
            Some(symbol) if symbol.kind == SymbolKind::Unknown => {
                self.section_kind(symbol).is_some_and(|kind| kind != SectionKind::Text)
            }
            Some(symbol) => matches!(symbol.kind, SymbolKind::Data | SymbolKind::Tls),
            None => false,
        }
    }

    /// Returns `true` if a symbol is in memory that a process can write to.
    pub fn is_writable(&self, name: &str) -> bool {
        let kind = self.find(name).and_then(|symbol| self.section_kind(symbol));
        matches!(kind, Some(SectionKind::Data | SectionKind::UninitializedData))
    }

    fn section_kind(&self, symbol: &Defined) -> Option<SectionKind> {
        Some(self.file.section_by_index(symbol.section?).ok()?.kind())
    }

    /// Returns the names of the symbols that other libraries must define, sorted. Weak symbols may
    /// stay undefined.
    pub fn undefined(&self) -> Vec<String> {
        let symbols = self.file.dynamic_symbols().chain(self.file.symbols());
        let symbols = symbols.filter(|symbol| symbol.is_undefined() && !symbol.is_weak());
        let mut names: Vec<_> =
            symbols.filter_map(|symbol| Some(self.plain(symbol.name().ok()?))).collect();
        if self.is_pe() {
            let imports = self.file.imports().into_iter().flatten().flatten();
            names.extend(imports.filter_map(|import| named(import.name())));
        }
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the bytes from a symbol to the end of its section, or to its own end if the format
    /// has sizes. `None` if there is no such symbol.
    pub fn data_of(&self, name: &str) -> Option<&'a [u8]> {
        let symbol = self.find(name)?;
        let section = self.file.section_by_index(symbol.section?).ok()?;
        let start = usize::try_from(symbol.address.checked_sub(section.address())?).ok()?;
        let bytes = section.data().ok()?.get(start..)?;
        match usize::try_from(symbol.size) {
            Ok(size) if size > 0 => bytes.get(..size),
            _ => Some(bytes),
        }
    }

    /// Returns the sizes; `file` is the length of the whole file.
    pub fn sizes(&self, file: usize) -> Sizes {
        let mut sizes = Sizes { file: file as u64, ..Sizes::default() };
        for section in self.file.sections() {
            let room = match section.kind() {
                SectionKind::Text => &mut sizes.code,
                SectionKind::ReadOnlyData
                | SectionKind::ReadOnlyString
                | SectionKind::ReadOnlyDataWithRel => &mut sizes.read_only,
                SectionKind::Data | SectionKind::Tls => &mut sizes.data,
                SectionKind::UninitializedData | SectionKind::UninitializedTls => &mut sizes.zeroed,
                _ => continue,
            };
            *room = room.saturating_add(section.size());
        }
        sizes
    }

    fn find(&self, name: &str) -> Option<&Defined> {
        let index = self.defined.binary_search_by(|symbol| symbol.name.as_str().cmp(name)).ok()?;
        self.defined.get(index)
    }

    fn is_pe(&self) -> bool {
        is_pe(&self.file)
    }

    fn plain(&self, name: &str) -> String {
        plain(&self.file, name)
    }
}

/// Returns the name without the underscore that Mach-O adds, and without an ELF version.
fn plain(file: &object::File<'_>, name: &str) -> String {
    let name = if file.format() == object::BinaryFormat::MachO {
        name.strip_prefix('_').unwrap_or(name)
    } else {
        name
    };
    name.split('@').next().unwrap_or(name).to_string()
}

/// Returns the defined symbols: those that a library exports, or the global ones of a relocatable
/// object, sorted by name.
fn defined(file: &object::File<'_>) -> Vec<Defined> {
    let is_relocatable = file.kind() == ObjectKind::Relocatable;
    let exported =
        file.dynamic_symbols().chain(file.symbols().filter(|_| is_relocatable || !is_elf(file)));
    let mut defined: Vec<_> = exported
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter_map(|symbol| {
            Some(Defined {
                name: plain(file, symbol.name().ok()?),
                address: symbol.address(),
                size: symbol.size(),
                section: symbol.section_index(),
                kind: symbol.kind(),
            })
        })
        .collect();
    if is_pe(file) {
        let exports = file.exports().into_iter().flatten().flatten();
        defined.extend(exports.filter_map(|export| exported_by_pe(file, &export)));
    }
    defined.sort_by(|one, other| one.name.cmp(&other.name));
    defined.dedup_by(|one, other| one.name == other.name);
    defined
}

fn exported_by_pe(file: &object::File<'_>, export: &object::Export<'_>) -> Option<Defined> {
    let ExportTarget::Address { address } = export.target() else { return None };
    let within = |section: &object::Section<'_, '_>| {
        section.address() <= address && address - section.address() < section.size()
    };
    let section = file.sections().find(within).map(|section| section.index());
    Some(Defined {
        name: named(export.name())?,
        address,
        size: 0,
        section,
        kind: SymbolKind::Unknown,
    })
}

fn is_elf(file: &object::File<'_>) -> bool {
    file.format() == object::BinaryFormat::Elf
}

fn is_pe(file: &object::File<'_>) -> bool {
    file.format() == object::BinaryFormat::Pe
}

/// Returns a name; `None` for symbols that have a number instead.
fn named(name: NameOrOrdinal<&[u8]>) -> Option<String> {
    match name {
        NameOrOrdinal::Name(name) => Some(text(name)),
        NameOrOrdinal::Ordinal(_) => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
