//! The source location where the library created an error: the first line of the error's backtrace.
#![forbid(unsafe_code)]

/// A location in Rust source code: file, line and function.
#[derive(Clone, Copy)]
pub struct SourceLocation {
    /// The path of the file, as passed to the compiler.
    pub file: &'static str,
    /// The line number.
    pub line: u32,
    /// The full path of the function.
    pub function: &'static str,
}

impl SourceLocation {
    /// Returns the location of the function that encloses `marker`, a function item whose path has
    /// one more segment.
    pub fn enclosing<F>(file: &'static str, line: u32, marker: &F) -> SourceLocation {
        SourceLocation::enclosing_name(file, line, core::any::type_name_of_val(marker))
    }

    /// Implements [`enclosing`](Self::enclosing) from the path of the marker, so that all markers
    /// share one function body.
    #[inline(never)]
    fn enclosing_name(file: &'static str, line: u32, name: &'static str) -> SourceLocation {
        SourceLocation { file, line, function: enclosing_function(name) }
    }
}

/// Returns the path of the enclosing function: removes the last segment of a path and the closures
/// before it.
fn enclosing_function(mut path: &'static str) -> &'static str {
    if let Some((outer, _)) = path.rsplit_once("::") {
        path = outer;
    }
    while let Some(outer) = path.strip_suffix("::{{closure}}") {
        path = outer;
    }
    path
}

/// The site where an error was created in the source code, resolved only when the error is shown.
///
/// Builds without backtraces contain neither the names nor the code that returns them.
#[cfg(all(feature = "std", not(feature = "client")))]
#[derive(Clone, Copy)]
pub struct Site(Option<fn() -> SourceLocation>);

#[cfg(all(feature = "std", not(feature = "client")))]
impl Site {
    /// The site of an error that was not created by this library. The backtrace of such an error
    /// begins with the caller.
    pub const UNKNOWN: Site = Site(None);

    /// Creates a site whose location is returned by `place`.
    #[inline(always)]
    pub const fn new(place: fn() -> SourceLocation) -> Site {
        Site(Some(place))
    }

    /// Returns the source location, if known.
    pub(crate) fn place(self) -> Option<SourceLocation> {
        self.0.map(|place| place())
    }
}

/// The site that an error stores until its backtrace is captured; `None` afterwards.
#[cfg(all(feature = "std", not(feature = "client")))]
pub(super) type Pending = Option<Site>;
#[cfg(all(feature = "std", not(feature = "client")))]
pub(super) const NOT_PENDING: Pending = None;

/// An empty placeholder: builds without backtraces store no site.
#[cfg(all(not(feature = "std"), not(feature = "client")))]
pub(super) struct Pending;
#[cfg(all(not(feature = "std"), not(feature = "client")))]
pub(super) const NOT_PENDING: Pending = Pending;

/// An empty placeholder for the site of an error, which this build does not store.
#[cfg(not(all(feature = "std", not(feature = "client"))))]
#[derive(Clone, Copy)]
pub struct Site(());

#[cfg(not(all(feature = "std", not(feature = "client"))))]
impl Site {
    /// A site without a location.
    pub const UNKNOWN: Site = Site(());

    /// Creates a site without a location.
    #[inline(always)]
    pub const fn new(_: fn() -> SourceLocation) -> Site {
        Site(())
    }
}

/// Returns the [`Site`] of the macro's invocation.
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
        assert!(
            place.function.ends_with("::a_site_is_the_line_that_says_it"),
            "{}",
            place.function
        );
        assert!(Site::UNKNOWN.place().is_none());
    }
}
