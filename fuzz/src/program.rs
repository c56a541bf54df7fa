//! Programs of calls: steps over eight registers, each of which owns a value.

use crate::code::{Coded, Reader, coded};
use crate::payloads::Payload;
use crate::shared_object::SharedObject;
use crate::texts::Text;

/// Number of registers.
pub const REGISTERS: usize = 8;

/// Number of steps after which a program ends.
const MAX_STEPS: usize = 64;

/// A register, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reg(pub u8);

impl Reg {
    /// Returns the index of the register.
    pub fn at(self) -> usize {
        self.0.into()
    }
}

impl Coded for Reg {
    fn read(from: &mut Reader<'_>) -> Self {
        Self(from.byte() % REGISTERS as u8)
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push(self.0);
    }
}

coded! {
    /// A value that needs no other one.
    pub enum Value {
        None {},
        Bool { value: bool },
        Small { value: i8 },
        Int { value: i64 },
        Float { value: f64 },
        DataType { code: u8, bits: u8, lanes: u16 },
        Device { device_type: i8, device_id: i8 },
        Text { text: Text },
        Bytes { text: Text },
        BigInt { words: Vec<i64> },
    }
}

coded! {
    /// An argument of a packed call: a register, or a value that only arguments have.
    pub enum Arg {
        Reg { reg: Reg },
        Int { value: i8 },
        RawStr { text: Text },
        ByteArray { text: Text },
        /// The `DLTensor` of a tensor; None for other values.
        TensorPtr { reg: Reg },
        /// An object that the callee may move out of the register; the value itself for others.
        Movable { reg: Reg },
        Bool { value: bool },
    }
}

coded! {
    /// Behaviour of a function of a program.
    pub enum Callback {
        /// Returns its first argument.
        First {},
        /// Returns its last argument.
        Last {},
        /// Returns the number of arguments.
        Count {},
        /// Returns the value that it owns.
        Own {},
        /// Raises a ValueError.
        Fail {},
        /// Calls the function that it owns with its arguments.
        Forward {},
        /// Appends its first argument to the List that it owns.
        Append {},
        /// Empties the List or Dict that it owns.
        Clear {},
        /// Returns true.
        True {},
        /// Calls its last argument with its first one, if it is a function.
        CallLast {},
    }
}

coded! {
    /// Description of a tensor, valid or not.
    pub struct Meta {
        pub shape: Vec<i8>,
        pub strides: Vec<i8>,
        pub has_strides: bool,
        pub code: u8,
        pub bits: u8,
        pub lanes: u16,
        pub byte_offset: u8,
        pub device_type: i8,
        pub device_id: i8,
        pub null_data: bool,
        /// Makes the number of dimensions negative.
        pub negative: bool,
        /// Factor of each size, as a power of two, for sizes whose product exceeds 64 bits.
        pub scale: u8,
    }
}

coded! {
    /// A call of the API of TVM 0.5 to 0.20, or a few that belong together.
    pub enum Legacy {
        Call { function: Reg, args: Vec<Arg> },
        GetGlobal { name: Text },
        SetGlobal { name: u8, function: Reg, allow_override: bool },
        RemoveGlobal { name: u8 },
        ListGlobals {},
        /// A function that returns its first argument, or fails.
        Function { fails: bool },
        /// Allocates an array and copies bytes into it and out of it, as many as it has or another
        /// number.
        Array { meta: Meta, bytes: u8, exact: bool },
        CopyArray { from: Reg, to: Reg },
        /// Exports an array, and imports it again or releases it.
        DlPack { tensor: Reg, back: bool },
        /// Type and attributes of an object.
        Object { object: Reg, attribute: Text },
        Key { key: Text, parent: u8 },
        Module { module: Reg, name: Text, imports: bool },
        Import { module: Reg, imported: Reg },
        LoadModule { object: SharedObject },
        Error { text: Text, python: bool },
        Device { device_type: i8, device_id: i8, size: u16, alignment: u8, stream: bool },
        FuncFromEnv { module: Reg, name: Text },
        Null { call: u8 },
    }
}

coded! {
    /// One call or a few calls that belong together. A result goes to `to`, and so does the error
    /// of a call that fails.
    pub enum Step {
        Set { to: Reg, value: Value },
        /// `TVMFFIAnyViewToOwnedAny`
        Own { to: Reg, value: Arg },
        /// `TVMFFIObjectIncRef`
        Copy { to: Reg, from: Reg },
        /// `TVMFFIObjectDecRef`
        Drop { reg: Reg },
        Function { to: Reg, callback: Callback, own: Reg },
        /// Calls the function in a register.
        Call { to: Reg, function: Reg, args: Vec<Arg> },
        /// Finds a function of the library by its number and calls it.
        Builtin { to: Reg, name: u8, args: Vec<Arg> },
        GetGlobal { to: Reg, name: Text },
        SetGlobal { name: u8, function: Reg, allow_override: bool },
        SetGlobalInfo { name: u8, function: Reg, doc: Text, allow_override: bool },
        Error { to: Reg, kind: Text, message: Text, backtrace: Text },
        ErrorWith { to: Reg, kind: Text, message: Text, cause: Reg, context: Reg },
        /// Appends to or replaces the backtrace of an error.
        Backtraced { reg: Reg, text: Text, mode: bool },
        /// Raises a register and takes the error.
        Raise { to: Reg, error: Reg },
        RaiseText { to: Reg, kind: Text, message: Text },
        RaiseParts { to: Reg, kind: Text, parts: Vec<Text> },
        Opaque { to: Reg, odd_index: bool },
        Class { class: u8, parent: u8, slots: u8, overflow: bool },
        KeyToIndex { key: Text },
        TypeInfo { index: u8, dynamic: bool },
        Field { class: u8, field: u8, flags: u16, default: Reg },
        Method { class: u8, name: Text, function: Reg, is_static: bool },
        Metadata { class: u8, kind: u8, doc: Text },
        Attr { class: u8, name: u8, value: Reg },
        Column { name: Text },
        /// An object of a class of the program.
        New { to: Reg, class: u8 },
        GetField { to: Reg, object: Reg, field: u8 },
        SetField { object: Reg, field: u8, value: Arg },
        Import { to: Reg, meta: Meta, versioned: bool, major: u8, flags: u8, alignment: u8, contiguous: bool },
        /// Exports a tensor, and imports it again or releases it.
        Export { to: Reg, tensor: Reg, versioned: bool, back: bool },
        View { to: Reg, source: Reg, meta: Meta },
        DataTypeFromText { to: Reg, text: Text },
        DataTypeToText { to: Reg, code: u8, bits: u8, lanes: u16 },
        BigIntContent { reg: Reg },
        Backtrace { crossing: bool },
        /// Initialises a handle and releases it, by functions that fail as told.
        InitOnce { init_fails: bool, deinit_fails: bool, empty: bool },
        Stream { device_type: i8, device_id: i8, stream: u8 },
        Allocator { mode: u8, global: bool },
        TensorAlloc { to: Reg, meta: Meta },
        Signals { fails: bool },
        CApi { name: Text },
        ContextSymbol { name: Text },
        SystemSymbol { name: u8 },
        Imports { module: Reg, name: Text },
        Workspace { device_type: i8, size: u16 },
        Launch { tasks: i8, fails: bool, barrier: bool },
        RunOnce { fails: bool },
        Version {},
        ObjectAllocator {},
        /// A call with a null pointer, by number.
        Null { call: u8 },
        /// `ffi.FunctionFromExternC` with a function of the program.
        ExternC { to: Reg, callback: Callback, own: Reg },
        /// `ffi._PyClassRegisterTypeAttrColumns` or `ffi._RegisterFFIInit` for a class of the
        /// program.
        PyClass { class: u8, init_only: bool },
        /// Runs the next steps on copies of the registers, then again on threads beside the steps
        /// after them.
        Fork { steps: u8, threads: u8, rounds: u8 },
        /// Waits for the threads of `Fork`.
        Join {},
        /// Takes a weak reference, drops the strong one if `released` says so, and tries to get a
        /// strong one from it.
        Weak { reg: Reg, released: bool },
        /// Bytes with the content of a module.
        Payload { to: Reg, payload: Payload },
        /// `ffi.Module.load_from_file.so` with a shared object that is written for it.
        Library { to: Reg, object: SharedObject },
        /// `TVMFuncCall` and what goes with it.
        Legacy { to: Reg, call: Legacy },
    }
}

/// Number of threads that one step starts at most.
pub const MAX_THREADS: usize = 3;

/// Numbers of a step that starts threads, within their limits.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    /// Number of steps that the threads run.
    pub steps: usize,
    pub threads: usize,
    /// Number of times that each thread runs the steps.
    pub rounds: usize,
}

impl Step {
    /// Returns the numbers of a step that starts threads; None for other steps.
    pub fn fork(&self) -> Option<Fork> {
        let Self::Fork { steps, threads, rounds } = self else { return None };
        let within = |number: &u8, max: usize| 1 + usize::from(*number) % max;
        Some(Fork {
            steps: within(steps, 6),
            threads: within(threads, MAX_THREADS),
            rounds: within(rounds, 8),
        })
    }
}

/// A step, and the thread that runs it: the program's own, or one that ends with the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub other_thread: bool,
    pub step: Step,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub lines: Vec<Line>,
}

impl Program {
    /// Reads a program from any bytes.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut from = Reader(bytes);
        let mut lines = Vec::new();
        while from.has_more() && lines.len() < MAX_STEPS {
            // The highest bit of the number of a step chooses the thread.
            let other_thread = from.0[0] & 0x80 != 0;
            lines.push(Line { other_thread, step: Step::read(&mut from) });
        }
        Self { lines }
    }

    /// Returns bytes that decode to the program.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in &self.lines {
            let start = bytes.len();
            line.step.write(&mut bytes);
            bytes[start] |= u8::from(line.other_thread) << 7;
        }
        bytes
    }
}

impl FromIterator<Step> for Program {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let lines = steps.into_iter().map(|step| Line { other_thread: false, step });
        Self { lines: lines.collect() }
    }
}
