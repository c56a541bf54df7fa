//! The kernels of a cache, which the model passes to the constructor.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Error, Function, String, plain_bail, plain_error};

/// Kernels of attention and of copies. Those that a model does not need are missing.
pub(super) struct Kernels {
    pub(super) append: Option<Function>,
    pub(super) append_latent: Option<Function>,
    /// Attention among the new tokens of each sequence.
    pub(super) ragged: Option<Function>,
    /// Attention of several tokens of each sequence to cached ones.
    pub(super) prefill: Option<Function>,
    /// Attention of one token of each sequence to cached ones.
    pub(super) decode: Option<Function>,
    /// `prefill` for windows.
    pub(super) window_prefill: Option<Function>,
    /// `decode` for windows.
    pub(super) window_decode: Option<Function>,
    /// Attention to cached tokens, the last of which are a token tree.
    pub(super) tree_paged: Option<Function>,
    /// Attention among the nodes of token trees.
    pub(super) tree_ragged: Option<Function>,
    /// Attention to cached compressed keys and values.
    pub(super) latent: Option<Function>,
    /// Merges two attention outputs in place.
    pub(super) merge: Function,
    /// `merge` for outputs of latent attention.
    pub(super) latent_merge: Option<Function>,
    /// Splits fused queries, keys and values, and rotates queries and keys.
    pub(super) split: Function,
    pub(super) copy_page: Function,
    pub(super) debug_get: Function,
    /// Moves tokens within pages.
    pub(super) compact: Function,
}

impl Kernels {
    /// Reads the kernels from the arguments of the constructor.
    ///
    /// # Errors
    /// TypeError for other types; InternalError for kernels that are not those of TVM's compiler,
    /// and without a merge kernel.
    pub(super) fn from_arguments(args: &[AnyView<'_>]) -> Result<Kernels> {
        let [
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            append,
            append_latent,
            ragged,
            prefill,
            decode,
            window_prefill,
            window_decode,
            tree_paged,
            tree_ragged,
            latent,
            merge,
            split,
            copy_page,
            debug_get,
            compact,
            ..,
        ] = args
        else {
            plain_bail!(
                INTERNAL_ERROR,
                "Invalid number of KV cache constructor args: {}",
                args.len()
            );
        };
        let merge = merge.get::<Array<Function>>()?;
        let mut merges = merge.iter();
        let Some(merge) = merges.next().transpose()? else {
            plain_bail!(
                INTERNAL_ERROR,
                "Check failed: (!f_merge_inplace.empty()) is false: Merge inplace function is not defined."
            );
        };
        Ok(Kernels {
            append: append.try_get()?,
            append_latent: append_latent.try_get()?,
            ragged: compiled(ragged)?,
            prefill: compiled(prefill)?,
            decode: compiled(decode)?,
            window_prefill: compiled(window_prefill)?,
            window_decode: compiled(window_decode)?,
            tree_paged: compiled(tree_paged)?,
            tree_ragged: compiled(tree_ragged)?,
            latent: compiled(latent)?,
            merge,
            latent_merge: merges.next().transpose()?,
            split: split.get()?,
            copy_page: copy_page.get()?,
            debug_get: debug_get.get()?,
            compact: compact.get()?,
        })
    }
}

/// Returns the kernel of an argument `["tirx", kernel]`; `None` if the array is empty.
fn compiled(argument: &AnyView<'_>) -> Result<Option<Function>> {
    let array = argument.get::<Array<Any>>()?;
    let [backend, rest @ ..] = array.as_slice() else { return Ok(None) };
    let backend = backend.get::<String>()?;
    match (backend.as_bytes(), rest) {
        (b"tirx", [kernel, ..]) => Ok(Some(kernel.get()?)),
        (b"flashinfer", _) => plain_bail!(
            INTERNAL_ERROR,
            "The KV cache runs kernels of TVM's compiler, and this model passes kernels of FlashInfer: compile it with FlashInfer \
             turned off"
        ),
        _ => plain_bail!(INTERNAL_ERROR, "Cannot reach here"),
    }
}

/// Returns a kernel, or the error that the model lacks it.
///
/// # Errors
/// InternalError if the kernel is missing.
#[inline]
pub(super) fn required<'a>(
    kernel: &'a Option<Function>,
    name: &'static str,
) -> Result<&'a Function> {
    kernel.as_ref().ok_or_else(|| missing(name))
}

#[cold]
fn missing(name: &'static str) -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "Function \"{}\" is not defined: the model passes no such kernel to its KV cache",
        name
    )
}
