//! The distances from one link of a hash chain to the next that a 7-bit index can name.
#![forbid(unsafe_code)]

#[cfg_attr(feature = "std", path = "jump/table.rs")]
#[cfg_attr(not(feature = "std"), path = "jump/computed.rs")]
mod known;

/// Number of distances.
pub(super) const JUMPS: usize = 126;

/// First entry that is a triangle number.
const TRIANGLES_FROM: usize = 16;
/// The number whose triangle stands at [`TRIANGLES_FROM`]; then come those of the numbers after it.
const FIRST_TRIANGLE: usize = 6;
/// First entry from which on the numbers grow by half each time.
const FAR_FROM: usize = 83;
/// The number whose triangle stands at [`FAR_FROM`], before it is rounded up, in units of 2^-32.
const FIRST_FAR: u64 = 0x81_bf10_0000;

/// The distance of an index; None for one that names none. 0 ends a chain, then come 1 to 15, then triangle numbers, which
/// reach every slot of a table whose size is a power of two, then ever wider steps for large tables. Part of the ABI: C++ code
/// follows chains by these numbers.
///
/// # Upstream
/// `kNextProbeLocation` in `include/tvm/ffi/container/map_base.h`.
#[inline]
pub(super) fn distance(index: usize) -> Option<usize> {
    (index < JUMPS).then(|| known::distance(index))
}

/// The distance of an index below [`JUMPS`]. What does not fit an address goes round a table that fits anyway.
const fn computed(index: usize) -> usize {
    if index < TRIANGLES_FROM {
        return index;
    }
    let side = if index < FAR_FROM {
        (index - TRIANGLES_FROM + FIRST_TRIANGLE) as u64
    } else {
        far_side(index - FAR_FROM)
    };
    (side * (side + 1) / 2) as usize
}

/// The number of which the triangle is a distance near a power of 2.25: upstream took them from the hash table that its layout
/// follows.
const fn far_side(steps: usize) -> u64 {
    let (mut side, mut left) = (FIRST_FAR, steps);
    while left > 0 {
        side += side / 2;
        left -= 1;
    }
    (side >> 32) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: [u64; 43] = [
        8515,
        19110,
        42778,
        96141,
        216153,
        486591,
        1092981,
        2458653,
        5532801,
        12442566,
        27993903,
        62983476,
        141717030,
        318844378,
        717352503,
        1614057336,
        3631522476,
        8170957530,
        18384510628,
        41364789378,
        93070452520,
        209408356380,
        471168559170,
        1060128894105,
        2385289465695,
        5366898840628,
        12075518705635,
        27169915244790,
        61132312065111,
        137547689707000,
        309482283181501,
        696335127828753,
        1566753995631385,
        3525196511162271,
        7931691992677701,
        17846306936293605,
        40154190677507445,
        90346928918121501,
        203280589587557251,
        457381325854679626,
        1029107982097042876,
        2315492959180353330,
        5209859154120846435,
    ];

    #[test]
    fn the_parts_meet_where_upstreams_table_has_them() {
        let distances: std::vec::Vec<_> = (0..).map_while(distance).collect();
        assert_eq!(distances[..4], [0, 1, 2, 3]);
        assert_eq!(distances[14..19], [14, 15, 21, 28, 36]);
        assert_eq!(distances[81..83], [2556, 2628]);
        assert!(distances[..83].windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(distances[83..], FAR.map(|distance| distance as usize));
    }
}
