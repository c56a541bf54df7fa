//! Where the library made an error: the first line of its backtrace.
#![forbid(unsafe_code)]

/// A place in Rust code.
#[derive(Clone, Copy)]
pub struct SourceLocation {
    /// The path of the file, as the compiler got it.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
    /// The function with its path.
    pub function: &'static str,
}

impl SourceLocation {
    /// The place of a function that encloses `marker`, a function item whose name adds one step to the path.
    pub fn enclosing<F>(file: &'static str, line: u32, marker: &F) -> SourceLocation {
        SourceLocation::enclosing_name(file, line, core::any::type_name_of_val(marker))
    }

    /// As [`enclosing`](Self::enclosing), of the marker's name: one body for all.
    #[inline(never)]
    fn enclosing_name(file: &'static str, line: u32, name: &'static str) -> SourceLocation {
        SourceLocation { file, line, function: enclosing_function(name) }
    }
}

/// The path without its last step and the closures before it.
fn enclosing_function(mut path: &'static str) -> &'static str {
    if let Some((outer, _)) = path.rsplit_once("::") {
        path = outer;
    }
    while let Some(outer) = path.strip_suffix("::{{closure}}") {
        path = outer;
    }
    path
}

/// The place in the code where an error was made, worked out only when the error is shown.
///
/// Builds without backtraces keep nothing of it: neither the names nor the code that gives them.
#[cfg(all(feature = "std", not(feature = "client")))]
#[derive(Clone, Copy)]
pub struct Site(Option<fn() -> SourceLocation>);

#[cfg(all(feature = "std", not(feature = "client")))]
impl Site {
    /// The site of an error that was not made in this library: its backtrace begins with the caller.
    pub const UNKNOWN: Site = Site(None);

    /// A site whose place is the result of `place`.
    #[inline(always)]
    pub const fn new(place: fn() -> SourceLocation) -> Site {
        Site(Some(place))
    }

    /// The place, if there is one.
    pub(crate) fn place(self) -> Option<SourceLocation> {
        self.0.map(|place| place())
    }
}

/// What an error remembers of its site until its backtrace is written.
#[cfg(all(feature = "std", not(feature = "client")))]
pub(super) type Pending = Option<Site>;
#[cfg(all(feature = "std", not(feature = "client")))]
pub(super) const NOT_PENDING: Pending = None;

/// Nothing, where there are no backtraces.
#[cfg(all(not(feature = "std"), not(feature = "client")))]
pub(super) struct Pending;
#[cfg(all(not(feature = "std"), not(feature = "client")))]
pub(super) const NOT_PENDING: Pending = Pending;

/// The place in the code where an error was made, which this build does not keep.
#[cfg(not(all(feature = "std", not(feature = "client"))))]
#[derive(Clone, Copy)]
pub struct Site(());

#[cfg(not(all(feature = "std", not(feature = "client"))))]
impl Site {
    /// A site without a place.
    pub const UNKNOWN: Site = Site(());

    /// A site without a place, since this build keeps none.
    #[inline(always)]
    pub const fn new(_: fn() -> SourceLocation) -> Site {
        Site(())
    }
}

/// The [`Site`] of the code that invokes it.
#[doc(hidden)]
#[macro_export]
macro_rules! __error_site {
    () => {
        $crate::error::Site::new(|| {
            fn here() {}
            $crate::error::SourceLocation::enclosing(::core::file!(), ::core::line!(), &here)
        })
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_without_what_is_inside_them() {
        assert_eq!(enclosing_function("a::b::here"), "a::b");
        assert_eq!(enclosing_function("a::b::{{closure}}::{{closure}}::here"), "a::b");
        assert_eq!(enclosing_function("here"), "here");
    }

    #[cfg(all(feature = "std", not(feature = "client")))]
    #[test]
    fn a_site_is_the_line_that_says_it() {
        let (site, line) = (crate::__error_site!(), line!());
        let place = site.place().unwrap();
        assert!(place.file.ends_with("site.rs"), "{}", place.file);
        assert_eq!(place.line, line);
        assert!(place.function.ends_with("::a_site_is_the_line_that_says_it"), "{}", place.function);
        assert!(Site::UNKNOWN.place().is_none());
    }
}
