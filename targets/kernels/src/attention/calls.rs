//! The function.

use ferrite_core::abi::TVMFFIAny;

use super::Attention;
use crate::arguments::{Arguments, Result, Tensor, raise};
use crate::element::Element;

/// `attention(q, k, v, mask, scale, causal, out)`.
pub fn attention<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let q = args.tensor(0, "q")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let k = args.tensor(1, "k")?.expect_kind(T::KIND)?.expect_rank(4)?;
    let [batch, heads, queries, size] = extents(&q);
    let [_, key_heads, keys, _] = extents(&k);
    k.expect_shape(&[batch, key_heads, keys, size])?;
    let v = args.tensor(2, "v")?.expect_kind(T::KIND)?;
    let v = v.expect_shape(&[batch, key_heads, keys, size])?;
    let out = args.tensor(6, "out")?.expect_kind(T::KIND)?;
    let out = out.expect_shape(&[batch, heads, queries, size])?;
    if heads != 0 && (key_heads == 0 || heads % key_heads != 0) {
        let function = args.function();
        return Err(raise!(Value, "{function}: q has {heads} heads for {key_heads} heads of k"));
    }
    let (mask, mask_strides) = match args.optional(3, "mask")? {
        Some(mask) => {
            let mask = mask.expect_kind(T::KIND)?.expect_rank(4)?;
            (mask.data::<T>().cast_const(), strides(&args, &mask, [batch, heads, queries, keys])?)
        }
        None => (core::ptr::null(), [0; 4]),
    };
    let attention = Attention {
        batch,
        heads,
        key_heads,
        queries,
        keys,
        size,
        q: q.data::<T>(),
        k: k.data::<T>(),
        v: v.data::<T>(),
        mask,
        mask_strides,
        scale: args.float(4, "scale")? as f32,
        causal: args.int(5, "causal")? != 0,
        out: out.data::<T>(),
    };
    if out.len() != 0 {
        attention.run()?;
    }
    Ok(TVMFFIAny::NONE)
}

fn extents(tensor: &Tensor<'_>) -> [usize; 4] {
    core::array::from_fn(|axis| tensor.extent(axis))
}

/// Returns the strides of a mask that broadcasts to a shape.
fn strides(args: &Arguments<'_>, mask: &Tensor<'_>, shape: [usize; 4]) -> Result<[usize; 4]> {
    let (mut strides, mut stride) = ([0; 4], 1);
    for axis in (0..4).rev() {
        let extent = mask.extent(axis);
        if extent != 1 && extent != shape[axis] {
            let (function, got) = (args.function(), mask.shape());
            return Err(raise!(
                Value,
                "{function}: mask has the shape {got:?}, expected {shape:?}"
            ));
        }
        strides[axis] = if extent == 1 { 0 } else { stride };
        stride *= extent;
    }
    Ok(strides)
}
