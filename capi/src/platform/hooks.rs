//! Platform hooks: C functions that firmware may define to override the implementations in
//! `defaults`.

unsafe extern "C" {
    /// Enters a critical section, in which neither interrupt handlers nor other tasks run. Returns
    /// the state that `FerritePlatformUnlock` restores. If several cores share the library, the
    /// feature `ferrite-ffi-core/spin` is required; without it, memory accesses are ordered for a
    /// single core only.
    ///
    /// The library holds a critical section only for a few instructions at a time, also before
    /// `main` and in interrupt handlers. Critical sections may be nested. The default masks the
    /// interrupts of the core (PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V), which suffices on one
    /// core, with or without an operating system. Other architectures have no default.
    pub safe fn FerritePlatformLock() -> usize;

    /// Leaves the critical section whose `FerritePlatformLock` returned `state`.
    ///
    /// # Safety
    /// Must be defined together with `FerritePlatformLock`, or not at all.
    pub fn FerritePlatformUnlock(state: usize);

    /// Aborts the program; does not return. The library calls this after it has logged a failed
    /// internal check, which is a bug in the library.
    ///
    /// The default masks interrupts and executes an undefined instruction, so that a debugger or
    /// the fault handler can see the location. Other architectures have no default.
    pub safe fn FerritePlatformAbort() -> !;
}
