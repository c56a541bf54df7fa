//! The fuzz targets as functions of an input, which libFuzzer calls, and the test that replays the
//! kept inputs under Miri.
//!
//! `c_symbols` is not among them: it needs the library in the program.

pub mod device_payload;
pub mod dlpack_import;
pub mod dtype_text;
pub mod graph_text;
pub mod json_text;
pub mod library_bin;
pub mod map_operations;
pub mod packed_calls;
pub mod relax_executable;
pub mod rpc_client;
pub mod rpc_handshake;
pub mod rpc_session;
pub mod rpc_tracker;

use arbitrary::{Arbitrary, Unstructured};

/// Makes a value of an input, as libFuzzer does; None if there are too few bytes.
fn arbitrary<'a, T: Arbitrary<'a>>(input: &'a [u8]) -> Option<T> {
    if input.len() < T::size_hint(0).0 {
        return None;
    }
    T::arbitrary_take_rest(Unstructured::new(input)).ok()
}
