//! Conversions between the shared bytes of the crate `bytes` and values, without a copy.

use crate::abi::type_index;
use crate::error::{Error, Result};
use crate::value::any::{Any, AnyView};
use crate::value::convert::{AnyCompatible, Described, FromView, IntoAny, Param, TypeText};
use crate::value::string::Bytes;

/// Shares the content, which is copied only if it has at most seven bytes. No NUL follows it,
/// unlike in other bytes values.
///
/// # Examples
/// ```
/// use ferrite_core::Bytes;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let message = bytes::Bytes::from_static(b"head and body");
/// let body = Bytes::try_from(message.slice(9..))?;
/// let whole = Bytes::try_from(message.clone())?;
/// assert_eq!((&*body, whole.as_ptr()), (&b"body"[..], message.as_ptr()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// MemoryError.
impl TryFrom<bytes::Bytes> for Bytes {
    type Error = Error;

    fn try_from(content: bytes::Bytes) -> Result<Bytes> {
        Bytes::from_owner(content)
    }
}

/// Shares the content. The crate `bytes` allocates the handle, and ends the process when out of
/// memory.
///
/// # Examples
/// ```
/// use ferrite_core::Bytes;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let ours = Bytes::new(b"head and body")?;
/// let theirs = bytes::Bytes::from(ours.clone());
/// assert_eq!((&theirs[..4], theirs.as_ptr()), (&b"head"[..], ours.as_ptr()));
/// # Ok(())
/// # }
/// ```
impl From<Bytes> for bytes::Bytes {
    fn from(content: Bytes) -> bytes::Bytes {
        bytes::Bytes::from_owner(content)
    }
}

impl Described for bytes::Bytes {
    const TYPE: &'static TypeText = Bytes::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        view.bytes_of_bytes().is_some()
    }
}

impl<'a> FromView<'a> for bytes::Bytes {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<bytes::Bytes>> {
        Ok(Bytes::try_from_view(*view)?.map(bytes::Bytes::from))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(matches!(view.type_index(), type_index::BYTES | type_index::SMALL_BYTES))
    }
}

impl Param for bytes::Bytes {
    type In<'a> = bytes::Bytes;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<bytes::Bytes>> {
        bytes::Bytes::from_view(view)
    }
}

impl IntoAny for bytes::Bytes {
    fn try_into_any(self) -> Result<Any> {
        Bytes::try_from(self).map(Any::from)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::Function;
    use std::vec;

    #[test]
    fn content_is_shared_until_the_last_owner_drops_it() -> Result<()> {
        let theirs = bytes::Bytes::from(vec![7u8; 100]);
        let ours = Bytes::try_from(theirs.clone())?;
        assert_eq!(ours.as_ptr(), theirs.as_ptr());
        assert!(!theirs.is_unique());
        let back = bytes::Bytes::from(ours.clone());
        assert_eq!(back.as_ptr(), theirs.as_ptr());
        drop((ours, back));
        assert!(theirs.is_unique());
        Ok(())
    }

    #[test]
    fn short_content_is_small() -> Result<()> {
        let ours = Bytes::try_from(bytes::Bytes::from_static(b"seven!!"))?;
        assert_eq!(Any::from(ours.clone()).type_index(), type_index::SMALL_BYTES);
        assert_eq!(bytes::Bytes::from(ours), &b"seven!!"[..]);
        Ok(())
    }

    #[test]
    fn arguments_and_results_are_bytes() -> Result<()> {
        let tail = Function::from_typed(|content: bytes::Bytes| content.slice(2..))?;
        let content = bytes::Bytes::from_static(b"0123456789");
        let rest: bytes::Bytes = tail.call((content.clone(),))?;
        assert_eq!((rest.as_ptr(), rest.len()), (content[2..].as_ptr(), 8));
        assert_eq!(tail.call::<Bytes>((&Bytes::new(b"abc")?,))?.as_bytes(), b"c");
        assert_eq!(tail.call::<bytes::Bytes>(("text",)).unwrap_err().kind_bytes(), b"TypeError");
        Ok(())
    }
}
