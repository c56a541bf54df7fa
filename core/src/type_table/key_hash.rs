//! The 64-bit hash of a type key that `TVMFFITypeInfo` carries and structural hashing mixes in.
#![forbid(unsafe_code)]

/// Multiplier of the 64-bit Murmur hash.
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
/// Seed that the C++ standard library gives its string hash, on which upstream's value rests.
const SEED: u64 = 0xc70f_6907;

/// The 64-bit Murmur hash of `key`: the same on every target, so hashes can travel between them.
///
/// # Upstream
/// `std::hash<String>` over the key, `src/ffi/object.cc` (`TypeTable::Entry`).
pub const fn type_key_hash(key: &[u8]) -> u64 {
    let mut hash = SEED ^ (key.len() as u64).wrapping_mul(MULTIPLIER);
    let mut rest = key;
    while let Some((word, after)) = rest.split_first_chunk() {
        hash ^= shift_mix(u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
        hash = hash.wrapping_mul(MULTIPLIER);
        rest = after;
    }
    if !rest.is_empty() {
        hash = (hash ^ load(rest)).wrapping_mul(MULTIPLIER);
    }
    shift_mix(shift_mix(hash).wrapping_mul(MULTIPLIER))
}

/// Fewer than 8 bytes as a little-endian number.
const fn load(mut bytes: &[u8]) -> u64 {
    let mut word = 0;
    while let [rest @ .., last] = bytes {
        word = (word << 8) | *last as u64;
        bytes = rest;
    }
    word
}

const fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
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
