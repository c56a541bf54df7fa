//! The symbols of `libtvm_ffi` that a library needs, and the releases that have them.

use crate::demangled::demangled;
use crate::symbols::{self, release_key};

use super::report::{NeededSymbol, Needs};

/// Returns the needs of a library with these undefined symbols.
pub fn of(undefined: &[String]) -> Needs {
    let all = undefined.len();
    let names: Vec<_> =
        undefined.iter().filter(|name| symbols::is_of_the_abi(name)).cloned().collect();
    let others = all - names.len();
    let symbols: Vec<_> = names.into_iter().map(needed).collect();
    let without = |lacks: fn(&NeededSymbol) -> bool| {
        symbols.iter().filter(|symbol| lacks(symbol)).map(|symbol| symbol.name.clone()).collect()
    };
    let mut features: Vec<_> =
        symbols.iter().filter_map(|symbol| symbol.ferrite).filter(|name| *name != "c").collect();
    features.sort_unstable();
    features.dedup();
    // What the backend has is libtvm_runtime's upstream.
    let is_upstreams = |symbol: &&NeededSymbol| symbol.since.is_some();
    let since = symbols
        .iter()
        .filter(is_upstreams)
        .filter_map(|symbol| symbol.since)
        .max_by_key(|release| release_key(release));
    let until =
        symbols.iter().filter_map(|symbol| symbol.until).min_by_key(|release| release_key(release));
    Needs {
        since: since.map(String::from),
        until: until.map(String::from),
        missing_from_ferrite: without(|symbol| symbol.ferrite.is_none()),
        missing_from_upstream: without(|symbol| symbol.since.is_none()),
        features,
        others,
        symbols,
    }
}

fn needed(name: String) -> NeededSymbol {
    let known = symbols::find(&name);
    NeededSymbol {
        demangled: demangled(&name),
        name,
        since: known.and_then(|known| known.since),
        until: known.and_then(|known| known.until),
        ferrite: known.and_then(|known| known.feature),
    }
}
