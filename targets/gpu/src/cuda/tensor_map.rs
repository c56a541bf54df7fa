//! `runtime.cuTensorMapEncodeTiled`: descriptors by which kernels copy tiles of tensors (TMA).

use core::ffi::c_void;

use ferrite_core::abi::DLDataType;
use ferrite_core::dtype::code;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, plain_bail, plain_ensure};

use super::failure::{self, cuda_error};
use super::platform::platform;

/// Extents of a tensor at most.
const MAX_RANK: usize = 5;

/// The rules of one kind of number among the arguments.
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
/// -1 leaves the data type to the tensor's.
const DATA_TYPE: Rule = Rule { name: "tensorDataType", least: -1, most: 15, multiple_of: 1 };

/// The packed arguments that are left.
struct Arguments<'a, 'b>(&'a [AnyView<'b>]);

impl Arguments<'_, '_> {
    /// The next number.
    fn number(&mut self, rule: &Rule) -> Result<i64> {
        let [first, rest @ ..] = self.0 else { plain_bail!(TYPE_ERROR, "{} is missing", rule.name) };
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

    /// The next `count` numbers.
    fn numbers<T: TryFrom<i64> + Copy + Default>(
        &mut self,
        rule: &Rule,
        count: usize,
    ) -> Result<[T; MAX_RANK]> {
        let mut numbers = [T::default(); MAX_RANK];
        for number in numbers.iter_mut().take(count) {
            // Every rule's range fits.
            *number = T::try_from(self.number(rule)?).unwrap_or_default();
        }
        Ok(numbers)
    }

    fn small(&mut self, rule: &Rule) -> Result<i32> {
        Ok(self.number(rule)? as i32)
    }
}

/// Fills a tensor map: (map, dtype, rank, data, extents, strides without the first, box extents, element strides, interleave,
/// swizzle, promotion, fill, and optionally a data type of the driver's).
///
/// # Errors
/// TypeError for a wrong number or type of arguments; ValueError for numbers out of range and pointers that are not aligned;
/// InternalError for a data type that there is no number for; errors of the driver, which checks the numbers together.
///
/// # Upstream
/// `src/runtime/cuda/cuda_device_api.cc` of Apache TVM.
pub(super) fn encode_tiled(args: &[AnyView<'_>]) -> Result<Any> {
    let [map, dtype, rank, data, rest @ ..] = args else {
        plain_bail!(TYPE_ERROR, "A tensor map is made of at least 4 arguments, but got {}", args.len());
    };
    let (map, data) = (map.get::<*mut c_void>()?, data.get::<*mut c_void>()?);
    let (dtype, rank) = (dtype.get::<DLDataType>()?, rank.get::<i64>()?);
    plain_ensure!(
        (1..=MAX_RANK as i64).contains(&rank),
        VALUE_ERROR,
        "A tensor map has 1 to {} extents, not {}",
        MAX_RANK,
        &rank
    );
    let rank = rank as usize;
    let count = 4 * rank + 3;
    plain_ensure!(
        rest.len() == count || rest.len() == count + 1,
        TYPE_ERROR,
        "A tensor map of {} extents is made of {} arguments, or one more, but got {}",
        rank,
        count + 4,
        args.len()
    );
    plain_ensure!(
        !map.is_null() && map.addr().is_multiple_of(64),
        VALUE_ERROR,
        "A tensor map must be aligned to 64 bytes"
    );
    plain_ensure!(
        data.addr().is_multiple_of(16),
        VALUE_ERROR,
        "The data of a tensor map must be aligned to 16 bytes"
    );
    let mut rest = Arguments(rest);
    let extents = rest.numbers::<u64>(&EXTENT, rank)?;
    let strides = rest.numbers::<u64>(&STRIDE, rank - 1)?;
    let box_extents = rest.numbers::<u32>(&BOX, rank)?;
    let element_strides = rest.numbers::<u32>(&ELEMENT_STRIDE, rank)?;
    let (interleave, swizzle) = (rest.small(&INTERLEAVE)?, rest.small(&SWIZZLE)?);
    let (promotion, fill) = (rest.small(&PROMOTION)?, rest.small(&FILL)?);
    let forced = if rest.0.is_empty() { -1 } else { rest.small(&DATA_TYPE)? };
    let data_type = if forced >= 0 { forced } else { data_type(dtype)? };
    let api = platform()?.api;
    let Some(encode) = api.cuTensorMapEncodeTiled else {
        return Err(cuda_error(&[b"The driver has no cuTensorMapEncodeTiled: it is older than CUDA 12"]));
    };
    // SAFETY: the map has 128 bytes, as the caller vouches; each list has five numbers.
    let status = unsafe {
        encode(
            map,
            data_type,
            rank as u32,
            data,
            extents.as_ptr(),
            strides.as_ptr(),
            box_extents.as_ptr(),
            element_strides.as_ptr(),
            interleave,
            swizzle,
            promotion,
            fill,
        )
    };
    failure::check_made(api, "cuTensorMapEncodeTiled", status)?;
    Ok(Any::NONE)
}

/// The driver's number of a data type.
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
