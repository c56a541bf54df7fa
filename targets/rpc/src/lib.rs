//! TVM's remote procedure calls: the protocol of `tvm.rpc`, a server for hosts and firmware.
//!
//! | module | content |
//! |---|---|
//! | `client` | sessions with servers on other machines or in other processes |
//! | [`wire`] | packets and sequences of values over any stream of bytes, without allocation |
//! | [`functions`] | functions that clients ask for by name |
//! | [`handshake`] | the magic number, keys, and options in keys |
//! | [`server`] | one session: its table of handles, calls, copies, devices |
//! | `tracker` | free servers and waiting clients by key |
//!
//! A peer is not trusted: every length, count, type and handle from it is checked.
//!
//! # Features
//! - `speed` (default): fast code in place of small code.
//! - `std`: an operating system. Enables `alloc` and `devices`.
//! - `alloc`: a table of handles that grows; without it, a table of constant size.
//! - `client`: the module `client`. Enables `std`.
//! - `tracker`: the module `tracker`. Enables `std`.
//! - `devices`: devices that have a back end, their streams, and sessions on further servers.
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(target_endian = "big")]
compile_error!("elements of tensors travel in little-endian order, which copies do not swap");

#[cfg(feature = "client")]
pub mod client;
pub mod functions;
pub mod handshake;
pub mod server;
#[cfg(feature = "tracker")]
pub mod tracker;
pub mod wire;
