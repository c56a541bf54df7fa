//! Hooks: functions that firmware may define in place of those in `defaults`.

unsafe extern "C" {
    /// Enters a critical section, which excludes interrupt handlers and, if any, other tasks. Returns the state that
    /// `FerritePlatformUnlock` restores. Several cores that share the library need its feature `spin`; without it,
    /// memory is ordered for one core only.
    ///
    /// Called by the library around a few instructions at a time, also before `main` and in interrupt handlers.
    /// Sections nest. The default masks the interrupts of the core (PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V),
    /// which suffices on one core, with or without an operating system. Other architectures have no default.
    pub safe fn FerritePlatformLock() -> usize;

    /// Leaves the critical section whose `FerritePlatformLock` returned `state`.
    ///
    /// # Safety
    /// Defined together with `FerritePlatformLock`, or not at all.
    pub fn FerritePlatformUnlock(state: usize);

    /// Ends the program; does not return. Called when a check inside the library fails, which is a bug of the library,
    /// after a line in the log.
    ///
    /// The default masks interrupts and executes an undefined instruction, so that a debugger or the fault handler sees
    /// the location. Other architectures have no default.
    pub safe fn FerritePlatformAbort() -> !;
}
