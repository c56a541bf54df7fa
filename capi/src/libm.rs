//! The C math functions that TVM's generated code calls and that the compiler's own library lacks, for links without a C
//! library.
//!
//! Archives have `memcpy`, `memmove`, `memset`, `memcmp`, `strlen` and most of `math.h` already, under weak names:
//! `compiler_builtins` brings them. These are the others.

/// Exports functions of the crate `libm` under names of C.
macro_rules! export {
    ($($name:ident = $function:ident($($argument:ident),+): $float:ty;)+) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $float),+) -> $float {
                ::libm::$function($($argument),+)
            }
        )+
    };
}

export! {
    acosh = acosh(x): f64;
    acoshf = acoshf(x): f32;
    asinh = asinh(x): f64;
    asinhf = asinhf(x): f32;
    atanh = atanh(x): f64;
    atanhf = atanhf(x): f32;
    exp10 = exp10(x): f64;
    exp10f = exp10f(x): f32;
    nearbyint = rint(x): f64;
    nearbyintf = rintf(x): f32;
    nextafter = nextafter(x, y): f64;
    nextafterf = nextafterf(x, y): f32;
}
