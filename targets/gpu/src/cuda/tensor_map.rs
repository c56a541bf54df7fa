//! `runtime.cuTensorMapEncodeTiled`: encodes descriptors (tensor maps) of the Tensor Memory
//! Accelerator (TMA), by which kernels copy tiles of tensors.

use core::ffi::c_void;

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::value::dtype::code;
use ferrite_core::{Any, AnyView, plain_bail, plain_ensure};

use super::failure::{self, cuda_error};
use super::platform::platform;

/// Maximum rank of a tensor map.
const MAX_RANK: usize = 5;

/// Validity range of a numeric argument.
struct Rule {
    name: &'static str,
    least: i64,
    most: i64,
    multiple_of: i64,
}

const EXTENT: Rule = Rule { name: "globalDim", least: 1, most: 1 << 32, multiple_of: 1 };
const STRIDE: Rule = Rule { name: "globalStrides", least: 0, most: (1 << 40) - 1, multiple_of: 16 };
const BOX: Rule = Rule { name: "boxDim", least: 1, most: 256, multiple_of: 1 };
const ELEMENT_STRIDE: Rule = Rule { name: "elementStrides", least: 1, most: 8, multiple_of: 1 };
const INTERLEAVE: Rule = Rule { name: "interleave", least: 0, most: 2, multiple_of: 1 };
const SWIZZLE: Rule = Rule { name: "swizzle", least: 0, most: 6, multiple_of: 1 };
const PROMOTION: Rule = Rule { name: "l2Promotion", least: 0, most: 3, multiple_of: 1 };
const FILL: Rule = Rule { name: "oobFill", least: 0, most: 1, multiple_of: 1 };
/// The driver's `CUtensorMapDataType`; -1 derives it from the tensor's dtype.
const DATA_TYPE: Rule = Rule { name: "tensorDataType", least: -1, most: 15, multiple_of: 1 };

/// The remaining packed arguments.
struct Arguments<'a, 'b>(&'a [AnyView<'b>]);

impl Arguments<'_, '_> {
    /// Reads the next number, and checks it against `rule`.
    fn number(&mut self, rule: &Rule) -> Result<i64> {
        let [first, rest @ ..] = self.0 else {
            plain_bail!(TYPE_ERROR, "{} is missing", rule.name)
        };
        self.0 = rest;
        let number = first.get::<i64>()?;
        plain_ensure!(
            (rule.least..=rule.most).contains(&number) && number % rule.multiple_of == 0,
            VALUE_ERROR,
            "{} of a tensor map must be a multiple of {} from {} to {}, not {}",
            rule.name,
            &rule.multiple_of,
            &rule.least,
            &rule.most,
            &number
        );
        Ok(number)
    }

    /// Reads the next `count` numbers, and checks each against `rule`.
    fn numbers<T: TryFrom<i64> + Copy + Default>(
        &mut self,
        rule: &Rule,
        count: usize,
    ) -> Result<[T; MAX_RANK]> {
        let mut numbers = [T::default(); MAX_RANK];
        for number in numbers.iter_mut().take(count) {
            // The range of every rule fits into `T`.
            *number = T::try_from(self.number(rule)?).unwrap_or_default();
        }
        Ok(numbers)
    }

    /// Reads the next value of a driver enumeration, and checks it against `rule`.
    fn choice(&mut self, rule: &Rule) -> Result<i32> {
        Ok(self.number(rule)? as i32)
    }
}

/// Parameters of a tensor map, in the order of the arguments.
struct Tiling {
    extents: [u64; MAX_RANK],
    /// Strides in bytes of all dimensions except the first.
    strides: [u64; MAX_RANK],
    box_extents: [u32; MAX_RANK],
    element_strides: [u32; MAX_RANK],
    interleave: i32,
    swizzle: i32,
    promotion: i32,
    fill: i32,
    /// `CUtensorMapDataType`, or -1.
    data_type: i32,
}

impl Tiling {
    /// Reads the arguments after the data pointer.
    fn read(args: &[AnyView<'_>], rank: usize) -> Result<Tiling> {
        let count = 4 * rank + 3;
        plain_ensure!(
            args.len() == count || args.len() == count + 1,
            TYPE_ERROR,
            "A tensor map of {} extents is made of {} arguments, or one more, but got {}",
            rank,
            count + 4,
            args.len() + 4
        );
        let mut args = Arguments(args);
        Ok(Tiling {
            extents: args.numbers(&EXTENT, rank)?,
            strides: args.numbers(&STRIDE, rank - 1)?,
            box_extents: args.numbers(&BOX, rank)?,
            element_strides: args.numbers(&ELEMENT_STRIDE, rank)?,
            interleave: args.choice(&INTERLEAVE)?,
            swizzle: args.choice(&SWIZZLE)?,
            promotion: args.choice(&PROMOTION)?,
            fill: args.choice(&FILL)?,
            data_type: if args.0.is_empty() { -1 } else { args.choice(&DATA_TYPE)? },
        })
    }
}

/// Encodes a tensor map. The arguments are (map, dtype, rank, data, extents, strides without the
/// first, box extents, element strides, interleave, swizzle, promotion, fill, and optionally a
/// `CUtensorMapDataType`).
///
/// # Errors
/// TypeError for a wrong number or type of arguments; ValueError for numbers out of range and
/// misaligned pointers; InternalError for a dtype without an equivalent in the driver; errors of
/// the driver, which validates the combination.
///
/// # Upstream
/// `src/runtime/cuda/cuda_device_api.cc` of Apache TVM.
pub(super) fn encode_tiled(args: &[AnyView<'_>]) -> Result<Any> {
    let [map, dtype, rank, data, rest @ ..] = args else {
        plain_bail!(
            TYPE_ERROR,
            "A tensor map is made of at least 4 arguments, but got {}",
            args.len()
        );
    };
    let rank = rank.get::<i64>()?;
    plain_ensure!(
        (1..=MAX_RANK as i64).contains(&rank),
        VALUE_ERROR,
        "A tensor map has 1 to {} extents, not {}",
        MAX_RANK,
        &rank
    );
    let mut tiling = Tiling::read(rest, rank as usize)?;
    if tiling.data_type < 0 {
        tiling.data_type = data_type(dtype.get()?)?;
    }
    let (map, data) = (map.get::<*mut c_void>()?, data.get::<*mut c_void>()?);
    let is_aligned = !map.is_null() && map.addr().is_multiple_of(64);
    plain_ensure!(is_aligned, VALUE_ERROR, "A tensor map must be aligned to 64 bytes");
    let is_aligned = data.addr().is_multiple_of(16);
    plain_ensure!(is_aligned, VALUE_ERROR, "The data of a tensor map must be aligned to 16 bytes");
    // SAFETY: the caller who passes a tensor map guarantees its 128 bytes.
    unsafe { encode(map, rank as u32, data, &tiling) }?;
    Ok(Any::NONE)
}

/// Calls the driver to encode a tensor map into `map`.
///
/// # Safety
/// `map` must point to 128 bytes, aligned to 64.
unsafe fn encode(map: *mut c_void, rank: u32, data: *mut c_void, tiling: &Tiling) -> Result<()> {
    let api = platform()?.api;
    let Some(encode) = api.cuTensorMapEncodeTiled else {
        return Err(cuda_error(&[
            b"The driver has no cuTensorMapEncodeTiled: it is older than CUDA 12",
        ]));
    };
    // SAFETY: the caller guarantees the map; each array has at least `rank` elements.
    let status = unsafe {
        encode(
            map,
            tiling.data_type,
            rank,
            data,
            tiling.extents.as_ptr(),
            tiling.strides.as_ptr(),
            tiling.box_extents.as_ptr(),
            tiling.element_strides.as_ptr(),
            tiling.interleave,
            tiling.swizzle,
            tiling.promotion,
            tiling.fill,
        )
    };
    failure::check_made(api, "cuTensorMapEncodeTiled", status)
}

/// Returns the `CUtensorMapDataType` of a dtype.
fn data_type(dtype: DLDataType) -> Result<i32> {
    let number = match (dtype.code, dtype.bits, dtype.lanes) {
        (code::INT | code::UINT, 8, 1) | (code::FLOAT8_E4M3FN | code::FLOAT8_E5M2, _, 1) => Some(0),
        (code::UINT, 16, 1) => Some(1),
        (code::UINT, 32, 1) => Some(2),
        (code::INT, 32, 1) => Some(3),
        (code::UINT, 64, 1) => Some(4),
        (code::INT, 64, 1) => Some(5),
        (code::FLOAT, 16, 1) => Some(6),
        (code::FLOAT, 32, 1) => Some(7),
        (code::FLOAT, 64, 1) => Some(8),
        (code::BFLOAT, 16, 1) => Some(9),
        (code::FLOAT4_E2M1FN, _, 1) => Some(14),
        _ => None,
    };
    match number {
        Some(number) => Ok(number),
        None => plain_bail!(
            INTERNAL_ERROR,
            "Unsupported data type of a tensor map: code {}, {} bits, {} lanes",
            u32::from(dtype.code),
            u32::from(dtype.bits),
            u32::from(dtype.lanes)
        ),
    }
}
