//! Properties of DLPack import and export: which tensors each requirement accepts, the result, and
//! the release.
//!
//! Excluded, since this library rejects them with its own ValueError: alignments that are not a
//! power of two, and shapes with more elements than addresses, with which upstream's arithmetic
//! overflows. Only this library rejects DLPack versions other than 1.x, whose layout is unknown.
//! Its exports have the flags of the import; upstream's flags are always 0, so read-only memory
//! becomes writable. A view without dimensions needs no strides here.

use crate::support::*;
use ferrite_core::abi::*;
use ferrite_core::value::shape::data_size_bytes;
use ferrite_tests::Outcome;
use proptest::prelude::*;
use proptest::sample::select;
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::{null_mut, without_provenance_mut};

/// A tensor offered by a producer. Its data is never read, so any address is valid.
#[derive(Clone, Debug)]
struct Offer {
    address: usize,
    device: DLDevice,
    dtype: DLDataType,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    byte_offset: u64,
    version: (u32, u32),
    flags: u64,
    /// Whether the exported tensor has a deleter.
    returnable: bool,
}

/// Requirements of the consumer.
#[derive(Clone, Debug)]
struct Demand {
    versioned: bool,
    alignment: i32,
    contiguous: i32,
}

/// Generates strides: none, row-major, row-major with other numbers where a dimension is one, or
/// arbitrary.
fn strides(shape: Vec<i64>) -> impl Strategy<Value = (Vec<i64>, Option<Vec<i64>>)> {
    let mut row_major = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        row_major[at - 1] = row_major[at] * shape[at];
    }
    let length = shape.len();
    let near = (
        Just(row_major.clone()),
        prop::collection::vec(prop::option::weighted(0.2, -1..30i64), length),
    )
        .prop_map(|(strides, changes)| {
            strides.iter().zip(changes).map(|(&stride, change)| change.unwrap_or(stride)).collect()
        });
    let strides = prop_oneof![
        2 => Just(None),
        3 => Just(Some(row_major)),
        3 => near.prop_map(Some),
        1 => prop::collection::vec(any::<i64>(), length).prop_map(Some),
    ];
    (Just(shape), strides)
}

fn offers() -> impl Strategy<Value = Offer> {
    let dimension = prop_oneof![8 => 0..5i64, 1 => Just(1000)];
    let layout = prop::collection::vec(dimension, 0..6).prop_flat_map(strides);
    let address = (0..64usize).prop_map(|at| 0x10_0000 + 4 * at);
    let version = prop_oneof![Just((1, 3)), (Just(1), any::<u32>())];
    let offset = prop_oneof![3 => Just(0), 2 => 0..300u64];
    let flags = prop_oneof![6 => 0..4u64, 1 => 0..16u64];
    (address, devices(), dtypes(), layout, offset, version, flags, prop::bool::weighted(0.9))
        .prop_map(
            |(
                address,
                device,
                dtype,
                (shape, strides),
                byte_offset,
                version,
                flags,
                returnable,
            )| {
                Offer {
                    address,
                    device,
                    dtype,
                    shape,
                    strides,
                    byte_offset,
                    version,
                    flags,
                    returnable,
                }
            },
        )
        .prop_filter("ours refuses what no memory holds", |offer| {
            data_size_bytes(&offer.shape, offer.dtype).is_some()
        })
}

fn demands() -> impl Strategy<Value = Demand> {
    let alignment = select(vec![0, 0, 1, 2, 4, 8, 16, 32, 64, 256]);
    (any::<bool>(), alignment, select(vec![0, 0, 1, 2]))
        .prop_map(|(versioned, alignment, contiguous)| Demand { versioned, alignment, contiguous })
}

thread_local! {
    /// Number of deleter calls on this thread.
    static RETURNED: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C" fn give_back<T>(_record: *mut T) {
    RETURNED.set(RETURNED.get() + 1);
}

impl Offer {
    /// Returns a record that points into this offer.
    fn tensor(&self) -> DLTensor {
        DLTensor {
            data: without_provenance_mut(self.address),
            device: self.device,
            ndim: self.shape.len() as i32,
            dtype: self.dtype,
            shape: self.shape.as_ptr().cast_mut(),
            strides: self
                .strides
                .as_ref()
                .map_or(null_mut(), |strides| strides.as_ptr().cast_mut()),
            byte_offset: self.byte_offset,
        }
    }

    fn record(&self) -> DLManagedTensor {
        let deleter =
            self.returnable.then_some(give_back::<DLManagedTensor> as unsafe extern "C" fn(_));
        DLManagedTensor { dl_tensor: self.tensor(), manager_ctx: null_mut(), deleter }
    }

    fn versioned_record(&self) -> DLManagedTensorVersioned {
        let (major, minor) = self.version;
        DLManagedTensorVersioned {
            version: DLPackVersion { major, minor },
            manager_ctx: null_mut(),
            deleter: self
                .returnable
                .then_some(give_back::<DLManagedTensorVersioned> as unsafe extern "C" fn(_)),
            flags: self.flags,
            dl_tensor: self.tensor(),
        }
    }
}

fn describe(tensor: &DLTensor) -> String {
    format!("{:?} {}", tensor.data, tensor::describe(tensor))
}

fn import(library: &'static Library, offer: &Offer, demand: &Demand, seen: &mut Transcript) {
    RETURNED.set(0);
    let (mut record, mut versioned) = (offer.record(), offer.versioned_record());
    let Demand { alignment, contiguous, .. } = *demand;
    // SAFETY: records and offer outlive the tensor.
    let taken = library.object(|out| unsafe {
        if demand.versioned {
            (library.symbols.tensor_from_dlpack_versioned)(
                &raw mut versioned,
                alignment,
                contiguous,
                out,
            )
        } else {
            (library.symbols.tensor_from_dlpack)(&raw mut record, alignment, contiguous, out)
        }
    });
    match taken {
        // SAFETY: a tensor object contains this record.
        Ok(tensor) => unsafe {
            seen.note(describe(&*tensor.body()));
            seen.result("repr", &library.call("ffi.ReprPrint", &[&tensor]));
            export(tensor, seen);
        },
        Err(error) => seen.note(error),
    }
    seen.note(format_args!("came back {} times", RETURNED.get()));
}

/// Exports a tensor in both forms, releases it, and calls the exports' deleters.
fn export(tensor: Value, seen: &mut Transcript) {
    let Symbols { tensor_to_dlpack, tensor_to_dlpack_versioned, .. } = tensor.library().symbols;
    // SAFETY: the tensor lives through the call.
    let plain = exported(&tensor, |out| unsafe { tensor_to_dlpack(tensor.handle(), out) });
    // SAFETY: as above.
    let versioned =
        exported(&tensor, |out| unsafe { tensor_to_dlpack_versioned(tensor.handle(), out) });
    drop(tensor);
    seen.note(format_args!("without the tensor, came back {} times", RETURNED.get()));
    // SAFETY: both records are owned until their deleters are called.
    unsafe {
        let deleter = (*plain).deleter.expect("exports are given back");
        seen.note(describe(&(*plain).dl_tensor));
        deleter(plain);
        let DLManagedTensorVersioned { version, deleter, .. } = *versioned;
        seen.note(format_args!("{} {version:?}", describe(&(*versioned).dl_tensor)));
        deleter.expect("exports are given back")(versioned);
    }
}

fn exported<T>(tensor: &Value, export: impl FnOnce(*mut *mut T) -> c_int) -> *mut T {
    let mut record = null_mut();
    tensor.library().status(export(&raw mut record)).expect("tensors can be exported");
    record
}

/// Creates a view of another shape over a tensor, which the view keeps alive.
fn view(library: &'static Library, (offer, prototype): &(Offer, Offer), seen: &mut Transcript) {
    RETURNED.set(0);
    let mut record = offer.record();
    // SAFETY: record and offer outlive the tensor.
    let tensor = library
        .object(|out| unsafe { (library.symbols.tensor_from_dlpack)(&raw mut record, 0, 0, out) });
    let tensor = tensor.expect("without demands, every tensor is taken");
    let wanted = prototype.tensor();
    // SAFETY: the tensor and the prototype live through the call.
    let view = library.object(|out| unsafe {
        (library.symbols.tensor_view)(tensor.handle(), &raw const wanted, out)
    });
    drop(tensor);
    match view {
        // SAFETY: a tensor object contains this record.
        Ok(view) => unsafe {
            seen.note(describe(&*view.body()));
            seen.note(format_args!("with the view, came back {} times", RETURNED.get()));
            export(view, seen);
        },
        Err(error) => seen.note(error),
    }
    seen.note(format_args!("came back {} times", RETURNED.get()));
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn tensors_in_and_out() -> Outcome<()> {
    check(
        "dlpack",
        20_000,
        || (offers(), demands()),
        |library, (offer, demand), seen| {
            import(library, offer, demand, seen);
        },
    )
}

#[test]
#[ignore = "compares with upstream's library: ./ci.sh properties"]
fn views_of_tensors() -> Outcome<()> {
    let prototypes = || {
        offers().prop_filter("ours needs no strides", |prototype| {
            !prototype.shape.is_empty() || prototype.strides.is_some()
        })
    };
    check("tensor_view", 5_000, || (offers(), prototypes()), view)
}
