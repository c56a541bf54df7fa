//! Symbols of `libtvm_ffi`: the release of upstream that has each, and the part of this library
//! that has it.

/// A symbol of upstream's library or of this one.
#[derive(Clone, Copy, Debug)]
pub struct KnownSymbol {
    name: &'static str,
    /// First release of upstream with the symbol; `None` if none has it.
    pub since: Option<&'static str>,
    /// Last release of upstream with the symbol; `None` if the newest one has it.
    pub until: Option<&'static str>,
    /// Feature of this library with the symbol: `c` is every build; `None` if no build has it.
    pub feature: Option<&'static str>,
}

/// Table of all symbols, sorted: name, first and last release, feature.
const TABLE: &str = include_str!("../data/symbols.tsv");

/// Returns all known symbols.
fn all() -> impl Iterator<Item = KnownSymbol> {
    TABLE.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let name = cells.next()?;
        let mut cell = || cells.next().filter(|cell| *cell != "-");
        Some(KnownSymbol { name, since: cell(), until: cell(), feature: cell() })
    })
}

/// Returns the entry of a symbol; `None` for names that no release has.
pub fn find(name: &str) -> Option<KnownSymbol> {
    all().find(|known| known.name == name)
}

/// Returns the C symbols that every build of Ferrite and the newest release of upstream have.
pub fn in_every_build() -> impl Iterator<Item = &'static str> {
    all().filter(|known| known.feature == Some("c")).map(|known| known.name)
}

/// Returns the C++ symbols.
pub fn cxx_symbols() -> impl Iterator<Item = &'static str> {
    all().filter(|known| known.feature == Some("cxx-abi")).map(|known| known.name)
}

/// Returns the features of this library that add symbols, each with the added symbols of the newest
/// release.
pub fn features() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    ["backend", "relax", "cxx-abi"].into_iter().map(|feature| {
        let names = all().filter(|known| known.feature == Some(feature) && known.until.is_none());
        (feature, names.map(|known| known.name).collect())
    })
}

/// Returns the newest upstream release whose C symbols are all defined; `None` if no release is
/// complete.
pub fn newest_release(defines: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let is_complete = |release: &&str| {
        let key = release_key(release);
        let is_of_it =
            |known: &KnownSymbol| known.since.is_some_and(|since| release_key(since) <= key);
        all()
            .filter(|known| known.feature == Some("c") && is_of_it(known))
            .all(|known| defines(known.name))
    };
    let releases = all().filter(|known| known.feature == Some("c")).filter_map(|known| known.since);
    releases.filter(is_complete).max_by_key(|release| release_key(release))
}

/// Returns `true` for names that only a library of the TVM-FFI ABI defines, known or not.
pub fn is_of_the_abi(name: &str) -> bool {
    name.starts_with("TVMFFI") || name.starts_with("TVMBackend") || is_cxx(name)
}

/// Returns `true` for C++ functions and data in the namespace `tvm::ffi`.
fn is_cxx(name: &str) -> bool {
    // Local data of functions and guards of it are written as functions of the namespace.
    let rest = name.strip_prefix("_ZGV").or(name.strip_prefix("_Z"));
    let rest = rest.map(|rest| rest.trim_start_matches(['T', 'V', 'I', 'S', 'Z', 'N', 'K']));
    rest.is_some_and(|rest| rest.starts_with("3tvm3ffi"))
}

/// Returns a sort key for a release: `0.1.9` comes before `0.1.15`.
pub fn release_key(release: &str) -> Vec<u32> {
    release.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(list: &str) -> impl Iterator<Item = String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/exports");
        let text = std::fs::read_to_string(format!("{folder}/{list}.txt")).unwrap();
        text.lines().map(String::from).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn the_table_has_every_symbol_that_we_export() {
        for (list, feature) in [
            ("symbols", "c"),
            ("backend-symbols", "backend"),
            ("cxx-symbols", "cxx-abi"),
            ("cxx-symbols-earlier", "cxx-abi"),
        ] {
            for name in exported(list) {
                assert_eq!(find(&name).and_then(|known| known.feature), Some(feature), "{name}");
            }
        }
    }

    #[test]
    fn the_table_claims_nothing_that_we_do_not_export() {
        let lists =
            ["symbols", "backend-symbols", "relax-symbols", "cxx-symbols", "cxx-symbols-earlier"]
                .map(exported);
        let ours: Vec<_> = lists.into_iter().flatten().collect();
        for known in all().filter(|known| known.feature.is_some()) {
            assert!(ours.iter().any(|name| name == known.name), "{}", known.name);
        }
    }

    #[test]
    fn every_name_of_the_table_is_of_the_abi() {
        for known in all() {
            assert!(is_of_the_abi(known.name), "{}", known.name);
        }
        for other in
            ["malloc", "_ZN3tvm7runtime3foo", "_ZNSt6vectorIN3tvm3ffi3AnyEE", "__tvm_ffi_add"]
        {
            assert!(!is_of_the_abi(other), "{other}");
        }
    }

    #[test]
    fn releases_are_ordered_by_number() {
        assert!(release_key("0.1.9") < release_key("0.1.15"));
        assert_eq!(find("TVMFFIHandleInitOnce").unwrap().since, Some("0.1.5"));
    }
}
