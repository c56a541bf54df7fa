//! The TVM-FFI ABI for Rust programs and firmware: values, functions, objects, containers, tensors
//! and modules, with the whole library inside.
//!
//! ```
//! use ferrite::{Function, Result};
//!
//! fn main() -> Result<()> {
//!     let add = Function::from_typed(|a: i64, b: i64| a + b)?;
//!     assert_eq!(add.call::<i64>((2, 3))?, 5);
//!     Ok(())
//! }
//! ```
//!
//! # A class
//! A struct becomes the content of objects, which Python, C and C++ create and use by the same
//! names:
//!
//! ```
//! use ferrite::{Object, ObjectArc, Result, object_methods};
//!
//! /// A range of numbers.
//! #[derive(Object)]
//! #[object(key = "demo.Range")]
//! #[repr(C)]
//! struct Range {
//!     /// The first number.
//!     #[object(read_write)]
//!     first: i64,
//!     /// How many there are.
//!     count: i64,
//! }
//!
//! #[object_methods]
//! impl Range {
//!     fn new(first: i64, count: i64) -> Self {
//!         Range { first, count }
//!     }
//!
//!     /// Returns the sum of the numbers.
//!     fn sum(&self) -> i64 {
//!         (self.first..self.first + self.count).sum()
//!     }
//!
//!     /// Moves the range upwards.
//!     fn shift(&mut self, by: i64) {
//!         self.first += by;
//!     }
//! }
//!
//! fn main() -> Result<()> {
//!     let range: ObjectArc<Range> = Range::new(1, 3).into_arc()?;
//!     range.borrow_mut()?.shift(10);
//!     assert_eq!(range.borrow()?.sum(), 11 + 12 + 13);
//!     Ok(())
//! }
//! ```
//!
//! Objects are shared, so they are borrowed as by a `RefCell`; those of a class that never changes
//! need no borrow.
//!
//! # An error of one's own
//! `?` converts the errors of Rust's libraries, and those of a type that implements [`UserError`],
//! which may choose the kind that Python raises:
//!
//! ```
//! use std::{error::Error, fmt};
//!
//! use ferrite::{Function, Result, UserError};
//!
//! #[derive(Debug)]
//! struct SoldOut(String);
//!
//! impl fmt::Display for SoldOut {
//!     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         write!(f, "{} is sold out", self.0)
//!     }
//! }
//!
//! impl Error for SoldOut {}
//! impl UserError for SoldOut {}
//!
//! fn take(name: &str) -> Result<i64, SoldOut> {
//!     if name == "pear" { Err(SoldOut(name.into())) } else { Ok(4) }
//! }
//!
//! fn main() -> Result<()> {
//!     let twice = Function::from_typed(|name: &str| -> Result<i64> { Ok(2 * take(name)?) })?;
//!     assert_eq!(twice.call::<i64>(("apple",))?, 8);
//!     let error = twice.call::<i64>(("pear",)).unwrap_err();
//!     assert_eq!(error.to_string(), "RuntimeError: pear is sold out");
//!     Ok(())
//! }
//! ```
//!
//! # A module
//! A module has functions by name: those of a kernel library that is loaded from a file, or of a
//! type of one's own.
//!
//! ```no_run
//! use ferrite::{Module, Result};
//!
//! fn main() -> Result<()> {
//!     let kernels = Module::load("libkernels.so")?;
//!     println!("{}", kernels.get("twice")?.call::<i64>((21,))?);
//!     Ok(())
//! }
//! ```
//!
//! ```
//! use std::ffi::CStr;
//!
//! use ferrite::module::{Module, ModuleImpl};
//! use ferrite::{Function, Result, String};
//!
//! struct Arithmetic;
//!
//! impl ModuleImpl for Arithmetic {
//!     fn kind(&self) -> &CStr {
//!         c"arithmetic"
//!     }
//!
//!     fn get_function(&self, _: &Module, name: &String) -> Result<Option<Function>> {
//!         match name.as_bytes() {
//!             b"twice" => Function::from_typed(|x: i64| 2 * x).map(Some),
//!             _ => Ok(None),
//!         }
//!     }
//! }
//!
//! fn main() -> Result<()> {
//!     let module = Module::from_impl(Arithmetic)?;
//!     assert_eq!(module.get("twice")?.call::<i64>((21,))?, 42);
//!     Ok(())
//! }
//! ```
//!
//! # A thread
//! Values, functions and objects may go to other threads; errors are raised per thread.
//!
//! ```
//! use std::thread;
//!
//! use ferrite::{Array, Function, Result};
//!
//! fn main() -> Result<()> {
//!     let sum = Function::from_typed(|numbers: Vec<f64>| numbers.iter().sum::<f64>())?;
//!     let numbers: Array<f64> = [1.5, 2.5].try_into()?;
//!     let worker = thread::spawn({
//!         let (sum, numbers) = (sum.clone(), numbers.clone());
//!         move || sum.call::<f64>((&numbers,))
//!     });
//!     assert_eq!(worker.join().expect("the thread does not panic")?, sum.call::<f64>((&numbers,))?);
//!     Ok(())
//! }
//! ```
//!
//! # A tensor
//! Tensors have DLPack's layout: NumPy, PyTorch and JAX share their memory without a copy.
//!
//! ```
//! use ferrite::tensor::Input;
//! use ferrite::{Function, Result, Tensor};
//!
//! /// Adds one to each element of a matrix.
//! fn add_one(x: Input<'_>) -> Result<Tensor> {
//!     let ([rows, columns], x) = x.array::<f32, 2>()?;
//!     Tensor::from_vec(x.iter().map(|x| x + 1.0).collect(), &[rows as i64, columns as i64])
//! }
//!
//! fn main() -> Result<()> {
//!     let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
//!     let y: Tensor = Function::from_typed(add_one)?.call((&x,))?;
//!     assert_eq!(y.as_slice::<f32>()?, [2.0, 3.0, 4.0, 5.0]);
//!
//!     let vector = Tensor::from_slice(&[1.0f32], &[1])?;
//!     let error = Function::from_typed(add_one)?.call::<Tensor>((&vector,)).unwrap_err();
//!     assert_eq!(error.kind().as_str(), "ValueError");
//!     Ok(())
//! }
//! ```
//!
//! The README of the package says which of its crates a program, a kernel library or firmware
//! depends on.
#![no_std]

// The library installs its global functions, its loaders and its providers when the program starts.
#[cfg(feature = "host")]
extern crate ferrite_library as _;

#[cfg(test)]
extern crate std;

/// The examples of the README, which must compile.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
#[cfg(feature = "host")]
mod symbols;

pub use api::*;

/// Devices: their types and names, and with the feature `alloc` their memory, streams and events.
pub mod device {
    #[cfg(feature = "alloc")]
    pub use ferrite_alloc_ext::device::*;
    pub use ferrite_core::value::device::*;
}

/// Whole models: the Relax executables that TVM compiles, and the virtual machine that runs them.
#[cfg(feature = "relax")]
pub use ferrite_relax as relax;

/// Sessions with servers of TVM's remote procedure calls, on other machines or in other processes.
///
/// # Examples
/// [`Session::local`](rpc::Session::local) has its server in a thread of the program. For one on
/// another machine, [`Session::connect`](rpc::Session::connect) is the only line that differs:
/// ```
/// use ferrite::device::DeviceTensor;
/// use ferrite::rpc::Session;
/// use ferrite::tensor::Input;
/// use ferrite::{AnyView, Function, Result};
///
/// fn sum(x: Input<'_>) -> Result<f64> {
///     let ([_], x) = x.array::<f64, 1>()?;
///     Ok(x.iter().sum())
/// }
///
/// fn main() -> Result<()> {
///     Function::register("shop.sum", sum)?;
///     let session = Session::local()?;
///     let x = DeviceTensor::from_slice(session.cpu(), &[1.5, 2.5], &[2])?;
///     let sum = session.function("shop.sum")?;
///     assert_eq!(sum.call_packed(&[AnyView::from(x.as_tensor())])?.get::<f64>()?, 4.0);
///     let error = sum.call::<f64>((1,)).unwrap_err();
///     assert_eq!(error.kind().as_str(), "TypeError");
///     assert_eq!(x.read::<f64>()?.to_vec(), [1.5, 2.5]);
///     Ok(())
/// }
/// ```
#[cfg(feature = "rpc")]
pub mod rpc {
    pub use ferrite_rpc::client::*;
}
