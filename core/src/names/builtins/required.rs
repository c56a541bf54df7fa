//! Functions that are linked with the tables that list them: on all targets but web pages.

/// Returns the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_body {
    ($run:expr) => {
        $run
    };
    ($name:literal, $run:expr) => {
        $run
    };
}

/// Returns the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_symbol {
    ($name:literal, $run:expr) => {
        $run
    };
}

/// Returns the data itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_data {
    ($name:literal, $data:expr) => {
        $data
    };
}
