//! An exported function with more parameters than calls convert.

#[ferrite::export]
#[allow(clippy::too_many_arguments)]
fn sum(
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: i64,
    i: i64,
    j: i64,
    k: i64,
    l: i64,
    m: i64, //~ a function has at most twelve parameters
    n: i64,
    o: i64,
    p: i64,
    q: i64,
) -> i64 {
    a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q
}

fn main() {}
