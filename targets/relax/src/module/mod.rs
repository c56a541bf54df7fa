//! Executable and machine as modules, `relax.VMExecutable` and `relax.VirtualMachine`.
