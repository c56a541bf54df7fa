//! C math functions that TVM's generated code calls but `compiler_builtins` lacks, for programs
//! linked without a C library.
//!
//! The archive already contains `memcpy`, `memmove`, `memset`, `memcmp`, `strlen` and most of
//! `math.h`, as weak symbols of `compiler_builtins`.

/// Exports functions of the `libm` crate under their C names.
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
