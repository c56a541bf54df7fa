//! The machine under the library: critical sections, and a panic handler. Firmware defines no
//! hooks.

#[cfg(all(target_os = "none", any(cortex_m, riscv)))]
#[cfg_attr(cortex_m, path = "cortex_m.rs")]
#[cfg_attr(riscv, path = "riscv.rs")]
mod interrupts;
// Builds that unwind are those of tests, which have the handler of std.
#[cfg(all(panic = "abort", not(test)))]
mod panic;
#[cfg(target_os = "none")]
mod sections;

#[cfg(all(target_os = "none", not(any(cortex_m, riscv))))]
compile_error!(
    "`ferrite-ffi-minimal` masks interrupts itself, which it can do on Cortex-M and RISC-V cores"
);
