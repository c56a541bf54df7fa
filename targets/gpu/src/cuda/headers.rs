//! Minimal versions of the CUDA headers that TVM's source includes. They are passed to NVRTC from
//! memory, so no toolkit is needed.

use core::ffi::CStr;

/// Names by which source includes the headers.
pub(super) const NAMES: [&CStr; 2] = [c"cuda/std/cstdint", c"cuda/std/type_traits"];

/// Contents of the headers, in the order of [`NAMES`].
pub(super) const TEXTS: [&CStr; 2] = [INTEGERS, TRAITS];

/// Integers of fixed width. `long long` has 64 bits on every platform.
const INTEGERS: &CStr = c"\
#pragma once
namespace cuda { namespace std {
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
}}
";

/// Type traits.
const TRAITS: &CStr = c"\
#pragma once
namespace cuda { namespace std {
template <class T, T v> struct integral_constant { static constexpr T value = v; };
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <class, class> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <class T, class... Us> inline constexpr bool is_one_of = (is_same_v<T, Us> || ...);

template <class T> struct remove_cv { using type = T; };
template <class T> struct remove_cv<const T> { using type = T; };
template <class T> struct remove_cv<volatile T> { using type = T; };
template <class T> struct remove_cv<const volatile T> { using type = T; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;

template <class T> struct is_integral : integral_constant<bool, is_one_of<remove_cv_t<T>,
    bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, short, unsigned short, int, unsigned int,
    long, unsigned long, long long, unsigned long long>> {};
template <class T> struct is_floating_point
    : integral_constant<bool, is_one_of<remove_cv_t<T>, float, double>> {};

template <class T, bool = is_integral<T>::value || is_floating_point<T>::value> struct is_signed : false_type {};
template <class T> struct is_signed<T, true> : integral_constant<bool, (T(-1) < T(0))> {};
template <class T, bool = is_integral<T>::value> struct is_unsigned : false_type {};
template <class T> struct is_unsigned<T, true> : integral_constant<bool, (T(0) < T(-1))> {};

template <bool, class = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool, class T, class> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
}}
";
