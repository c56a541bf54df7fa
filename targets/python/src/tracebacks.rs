//! The frames that an error's backtrace adds to the traceback of an exception.
//!
//! Upstream's function evaluates an expression for each line of the backtrace, to get a frame with
//! that file, name and line. Here they are made from empty code objects, and kept for the next
//! error with the same backtrace. Before CPython 3.11 a frame keeps its caller: there the code
//! objects are kept.

use crate::python::{Locked, Owned, attribute, new_ref};
use core::ffi::{CStr, c_int};
use core::ptr::null_mut;
use pyo3_ffi::*;

/// The most backtraces whose frames are kept.
const ENTRIES: usize = 64;
/// The most bytes of such a backtrace.
const KEPT: usize = 8192;

/// A line of a backtrace: file, number and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'a> {
    file: &'a [u8],
    number: c_int,
    name: &'a [u8],
}

/// A backtrace that is kept.
struct Entry {
    text: Box<[u8]>,
    /// The frames or code objects of its lines, an owned tuple; null for an empty entry.
    items: *mut PyObject,
}

/// State of this module.
struct Frames {
    /// Upstream's function, whose work is done here; null for none.
    append: *mut PyObject,
    /// The global names of the frames.
    names: *mut PyObject,
    entries: Vec<Entry>,
    /// Whether frames are kept, and not their code objects.
    are_kept: bool,
    /// Return None or an empty dict if nobody traces; none if they are not CPython's.
    watchers: Option<Vec<PyCFunction>>,
}

static FRAMES: Locked<Frames> = Locked::new();

/// Begins without frames: all is left to upstream's function.
///
/// # Safety
/// The lock must be held; called once, before the other functions.
pub unsafe fn start() {
    // SAFETY: the dict and the list of entries are kept for ever.
    unsafe {
        let names = PyDict_New();
        if !names.is_null() {
            PyDict_SetItemString(names, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
        }
        let entries =
            (0..ENTRIES).map(|_| Entry { text: Box::default(), items: null_mut() }).collect();
        let version = PySys_GetObject(c"hexversion".as_ptr());
        let are_kept = !version.is_null() && PyLong_AsLong(version) >= 0x30b_0000;
        let watchers = watchers();
        FRAMES.set(Frames { append: null_mut(), names, entries, are_kept, watchers });
    }
}

/// The Python function `tracebacks(append)`: does the work of this function of upstream's; of none
/// if it is None.
///
/// # Safety
/// CPython must call it, with the interpreter's lock, after `start`.
pub unsafe extern "C" fn replace(_: *mut PyObject, append: *mut PyObject) -> *mut PyObject {
    // SAFETY: the former function is released after it was taken out.
    unsafe {
        let frames = FRAMES.get();
        let append = if append == Py_None() || (*frames).names.is_null() {
            null_mut()
        } else {
            new_ref(append)
        };
        let former = core::mem::replace(&mut (*frames).append, append);
        Py_XDECREF(former);
        new_ref(Py_None())
    }
}

/// The Python function `lines(text)`: the lines of a backtrace; None if upstream's function has to
/// read it.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn lines(_: *mut PyObject, text: *mut PyObject) -> *mut PyObject {
    // SAFETY: the string owns its bytes; the list owns its items.
    unsafe {
        let mut size: Py_ssize_t = 0;
        let data = PyUnicode_AsUTF8AndSize(text, &mut size);
        if data.is_null() {
            return null_mut();
        }
        let text = core::slice::from_raw_parts(data.cast::<u8>(), size as usize);
        if !is_plain(text) {
            return new_ref(Py_None());
        }
        let Some(found) = Owned::from_new(PyList_New(0)) else { return null_mut() };
        for line in text.split(|byte| *byte == b'\n').filter_map(parse) {
            let text = |bytes: &[u8]| {
                PyUnicode_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as Py_ssize_t)
            };
            let made =
                Py_BuildValue(c"NiN".as_ptr(), text(line.file), line.number, text(line.name));
            let Some(made) = Owned::from_new(made) else { return null_mut() };
            if PyList_Append(found.as_ptr(), made.as_ptr()) != 0 {
                return null_mut();
            }
        }
        found.into_raw()
    }
}

/// Returns whether a backtrace can be read here: text in ASCII without zeros.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (1..0x80).contains(byte))
}

/// Returns CPython's functions that say whether somebody traces; `None` if they are not found.
///
/// # Safety
/// The lock must be held.
unsafe fn watchers() -> Option<Vec<PyCFunction>> {
    // SAFETY: the modules keep their functions; the flags say which type a function has.
    unsafe {
        let function = |found: *mut PyObject| {
            if found.is_null()
                || PyCFunction_CheckExact(found) == 0
                || PyCFunction_GetFlags(found) != METH_NOARGS
            {
                return None;
            }
            PyCFunction_GetFunction(found)
        };
        let trace = function(PySys_GetObject(c"gettrace".as_ptr()))?;
        let profile = function(PySys_GetObject(c"getprofile".as_ptr()))?;
        let monitoring = PySys_GetObject(c"monitoring".as_ptr());
        if monitoring.is_null() {
            return Some(vec![trace, profile]);
        }
        let events = attribute(monitoring, c"_all_events")?;
        Some(vec![trace, profile, function(events.as_ptr())?])
    }
}

/// Returns whether `append` is the function whose work is done here. A tracer or profiler sees the
/// frames that it evaluates: then its work is left to it.
///
/// # Safety
/// The lock must be held, and `start` must have been called.
pub unsafe fn is_replaced(append: *mut PyObject) -> bool {
    // SAFETY: as the caller guarantees; the functions ignore their arguments, and return a new
    // reference.
    unsafe {
        let frames = FRAMES.get();
        if append.is_null() || (*frames).append != append {
            return false;
        }
        let Some(watchers) = &(*frames).watchers else { return false };
        watchers.iter().all(|watcher| {
            let found = watcher(null_mut(), null_mut());
            let Some(found) = Owned::from_new(found) else {
                PyErr_Clear();
                return false;
            };
            let found = found.as_ptr();
            found == Py_None() || (PyDict_CheckExact(found) != 0 && PyDict_Size(found) == 0)
        })
    }
}

/// Adds the frames of a backtrace to the traceback of the error that is set.
///
/// # Safety
/// The lock must be held, `items` must come from `items`, and an error must be set.
pub unsafe fn append(items: &Owned) {
    // SAFETY: the tuple owns its items.
    unsafe {
        for index in 0..PyTuple_GET_SIZE(items.as_ptr()) {
            add(PyTuple_GET_ITEM(items.as_ptr(), index), (*FRAMES.get()).names);
        }
    }
}

/// Returns what is kept of a code object, which passes to this function: in CPython 3.11 and later
/// its frame. Returns null without memory.
///
/// # Safety
/// The lock must be held; `code` must be null or an owned code object, and `names` a dict.
pub unsafe fn keep(code: *mut PyObject, names: *mut PyObject) -> *mut PyObject {
    // SAFETY: as the caller guarantees. Such a frame has no caller and no locals.
    unsafe {
        if code.is_null() || !(*FRAMES.get()).are_kept {
            return code;
        }
        let frame = PyFrame_New(PyThreadState_Get(), code.cast(), names, null_mut());
        Py_DECREF(code);
        frame.cast()
    }
}

/// Adds a frame to the traceback of the error that is set.
///
/// # Safety
/// The lock must be held, `item` must come from `keep`, and an error must be set.
pub unsafe fn add(item: *mut PyObject, names: *mut PyObject) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if (*FRAMES.get()).are_kept {
            PyTraceBack_Here(item.cast());
            return;
        }
        let frame = PyFrame_New(PyThreadState_Get(), item.cast(), names, null_mut());
        if !frame.is_null() {
            PyTraceBack_Here(frame);
            Py_DECREF(frame.cast());
        }
    }
}

/// Returns the frames or code objects of a backtrace, a tuple; `None` if upstream's function
/// has to read it.
///
/// # Safety
/// The lock must be held, and `start` must have been called.
pub unsafe fn items(text: &[u8]) -> Option<Owned> {
    let hash = text.chunks_exact(8).fold(text.len() as u64, |hash, word| {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    let position = hash as usize % ENTRIES;
    // SAFETY: the lock guards the entries: a reference to them ends before objects are made or
    // released.
    unsafe {
        if let Some(entry) = (&*FRAMES.get()).entries.get(position)
            && !entry.items.is_null()
            && *entry.text == *text
        {
            return Owned::from_new(new_ref(entry.items));
        }
        let made = read(text)?;
        if text.len() <= KEPT {
            let kept = Entry { text: text.into(), items: new_ref(made.as_ptr()) };
            let entries = &mut (*FRAMES.get()).entries;
            let former = core::mem::replace(entries.get_mut(position)?, kept);
            Py_XDECREF(former.items);
        }
        Some(made)
    }
}

/// Makes the frames or code objects of a backtrace's lines. Keeps the error that is set, if any:
/// CPython 3.12 makes no code objects with one.
///
/// # Safety
/// Same requirements as `items`.
#[cold]
#[allow(deprecated, reason = "the functions that take their place are new in CPython 3.12")]
unsafe fn read(text: &[u8]) -> Option<Owned> {
    if !is_plain(text) {
        return None;
    }
    let (mut class, mut value, mut traceback) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the lock is held; the parts of the error are passed on.
    unsafe {
        PyErr_Fetch(&mut class, &mut value, &mut traceback);
        let made = make_all(text);
        PyErr_Restore(class, value, traceback);
        made
    }
}

/// Makes the frames or code objects of the lines of a backtrace; `None` without memory.
///
/// # Safety
/// Same requirements as `items`; no error may be set, and one is left without memory.
unsafe fn make_all(text: &[u8]) -> Option<Owned> {
    let lines: Vec<Line> = text.split(|byte| *byte == b'\n').filter_map(parse).collect();
    // SAFETY: the tuple owns its items.
    unsafe {
        let made = Owned::from_new(PyTuple_New(lines.len() as Py_ssize_t))?;
        let is_complete = lines.iter().enumerate().all(|(index, line)| {
            let item = keep(make(*line), (*FRAMES.get()).names);
            PyTuple_SET_ITEM(made.as_ptr(), index as Py_ssize_t, item);
            !item.is_null()
        });
        is_complete.then_some(made)
    }
}

/// Makes a code object.
///
/// # Safety
/// Same requirements as `items`.
unsafe fn make(line: Line) -> *mut PyObject {
    let ended = |text: &[u8]| [text, b"\0"].concat();
    let (file, name) = (ended(line.file), ended(line.name));
    let (Ok(file), Ok(name)) = (CStr::from_bytes_with_nul(&file), CStr::from_bytes_with_nul(&name))
    else {
        return null_mut();
    };
    // SAFETY: both end with a zero.
    unsafe { PyCode_NewEmpty(file.as_ptr(), name.as_ptr(), line.number).cast() }
}

/// Reads a line `File "FILE", line NUMBER, in NAME`, as upstream's regular expression does: the
/// file is the shortest one that fits.
fn parse(line: &[u8]) -> Option<Line<'_>> {
    const MIDDLE: &[u8] = b"\", line ";
    let line = trimmed(line).strip_prefix(b"File \"")?;
    (1..line.len()).find_map(|end| {
        let (file, rest) = line.split_at_checked(end)?;
        let rest = rest.strip_prefix(MIDDLE)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        let name = rest.strip_prefix(b", in ").filter(|name| !name.is_empty())?;
        let number = core::str::from_utf8(number).ok()?.parse().ok()?;
        Some(Line { file, number, name })
    })
}

/// Returns a line without what `str.strip` removes of ASCII text.
fn trimmed(mut line: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, 9..=13 | 28..=32);
    while let Some((_, rest)) = line.split_first().filter(|(first, _)| is_space(first)) {
        line = rest;
    }
    while let Some((_, rest)) = line.split_last().filter(|(last, _)| is_space(last)) {
        line = rest;
    }
    line
}
