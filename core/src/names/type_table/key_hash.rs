//! The 64-bit hash of type keys, stored in `TVMFFITypeInfo` and used by structural hashing.
#![forbid(unsafe_code)]

/// Multiplier of the 64-bit Murmur hash.
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
/// Seed of libstdc++'s `std::hash` for strings, on which upstream's type-key hash is based.
const SEED: u64 = 0xc70f_6907;

/// Computes the 64-bit Murmur hash of `key`, the same on every target, so that hashes are portable.
///
/// # Upstream
/// `std::hash<String>` over the key, `src/ffi/object.cc` (`TypeTable::Entry`).
#[inline(never)]
pub const fn type_key_hash(key: &[u8]) -> u64 {
    let mut hash = SEED ^ multiplied(key.len() as u64);
    let mut rest = key;
    loop {
        let word = match rest.split_first_chunk() {
            Some((word, behind)) => {
                rest = behind;
                multiplied(mixed(u64::from_le_bytes(*word)))
            }
            None if rest.is_empty() => break,
            None => {
                let word = load(rest);
                rest = &[];
                word
            }
        };
        hash = multiplied(hash ^ word);
    }
    mixed(shift_mix(hash))
}

/// Loads fewer than 8 bytes as a little-endian number.
const fn load(mut bytes: &[u8]) -> u64 {
    let mut word = 0;
    while let [rest @ .., last] = bytes {
        word = (word << 8) | *last as u64;
        bytes = rest;
    }
    word
}

const fn mixed(value: u64) -> u64 {
    shift_mix(multiplied(value))
}

const fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

/// Multiplies by [`MULTIPLIER`].
const fn multiplied(value: u64) -> u64 {
    value.wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::type_key_hash;

    #[test]
    fn values_are_upstreams() {
        assert_eq!(type_key_hash(b"ffi.Object"), 3720555700325843206);
        assert_eq!(type_key_hash(b"None"), 18116513903021958570);
        assert_eq!(type_key_hash(b"DataType"), 5733058170336282203);
        assert_eq!(type_key_hash(b"TVMFFIByteArray*"), 3625853235450229161);
        assert_eq!(type_key_hash(b"ffi.OpaquePyObject"), 12503576646394787749);
    }
}
