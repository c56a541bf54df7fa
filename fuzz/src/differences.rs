//! Deliberate differences from upstream, with the reasons.

/// A difference that is not a defect: what upstream and ours note, and why.
pub struct Difference {
    /// Parts of upstream's notes of the step, in order; `crash` is the end of its process.
    upstream: &'static [&'static str],
    /// Parts of our notes of the step, in order.
    ours: &'static [&'static str],
    /// Whether the rest of the program is compared nevertheless.
    pub goes_on: bool,
    pub reason: &'static str,
}

const fn ends(
    upstream: &'static [&'static str],
    ours: &'static [&'static str],
    reason: &'static str,
) -> Difference {
    Difference { upstream, ours, goes_on: false, reason }
}

const fn passes(
    upstream: &'static [&'static str],
    ours: &'static [&'static str],
    reason: &'static str,
) -> Difference {
    Difference { upstream, ours, goes_on: true, reason }
}

const BACKEND: &str = "compiled code calls another library of upstream's";
const DEVICE_RANGE: &str = "devices out of range raise a ValueError; upstream writes beside its table or fails to allocate it";
const INVALID_TENSOR: &str = "tensors without a possible memory are refused first, so that no calculation of a size overflows";
const TREE: &str = "the import tree in a library is validated before any loader runs; upstream finds damage as it goes, and crashes without modules";
const WORDS: &str = "the same error in other words";
const NULL: &str =
    "null pointers raise a ValueError; upstream crashes, or looks at other arguments first";

const CALLBACK: &str =
    "a callback must be a function; upstream takes None for one and would call a null pointer";
const NONE_AS_CALLBACK: &[&str] = &[
    "Builtin: error \"TypeError\" \"Mismatched type",
    "ffi.Function",
    "but got `Array[index 0: Array[index 1: None]]`",
];

/// The differences. The first one that matches counts.
const DIFFERENCES: &[Difference] = &[
    passes(&["Workspace: skipped"], &["Workspace"], BACKEND),
    passes(&["Launch: skipped"], &["Launch"], BACKEND),
    passes(&["RunOnce: skipped"], &["RunOnce"], BACKEND),
    passes(
        &["Mismatched type on argument #"],
        &["Mismatched type on argument #"],
        "of several arguments of the wrong type, ours names the first, upstream the one that its compiler converts first",
    ),
    ends(
        &["crash: exit status 255"],
        &["TypeInfo: ok none"],
        "an unknown type index gives null; upstream ends the process",
    ),
    ends(
        &["crash: exit status 255"],
        &["Class: error"],
        "a conflict of types raises an error; upstream ends the process",
    ),
    ends(&["crash"], &["Stream: error \"ValueError\" \"Device id -"], DEVICE_RANGE),
    ends(&["crash"], &["Stream: error \"ValueError\" \"Device type -"], DEVICE_RANGE),
    passes(
        &["Stream: error \"InternalError\" \"vector"],
        &["Stream: error \"ValueError\" \"Device "],
        DEVICE_RANGE,
    ),
    ends(
        &["Method: ok"],
        &["Method: error \"ValueError\" \"A field or method needs a name"],
        "a member without a name, which nothing could look up, is refused",
    ),
    ends(&["Import: "], &["Import: error \"ValueError\" \"a DLTensor"], INVALID_TENSOR),
    ends(&["crash"], &["Import: error \"ValueError\" \"a DLTensor"], INVALID_TENSOR),
    ends(
        &["Import: "],
        &["Import: error \"ValueError\" \"FromDLPack: the alignment"],
        INVALID_TENSOR,
    ),
    ends(
        &["Import: "],
        &["Import: error \"RuntimeError\" \"FromDLPack: DLPack version"],
        "a managed tensor of another DLPack major version is refused before its other fields are read",
    ),
    ends(&["View: "], &["View: error \"ValueError\" \"a DLTensor"], INVALID_TENSOR),
    ends(&["crash"], &["View: error \"ValueError\" \"a DLTensor"], INVALID_TENSOR),
    passes(&["error \"\""], &["error \"RuntimeError\""], "an empty kind means RuntimeError"),
    ends(
        &["crash: signal 11"],
        &["Builtin: ok device"],
        "ffi.ContainerFindFirstNonCPUDevice ends for a container that contains itself",
    ),
    ends(
        &["crash: signal 11"],
        &["Builtin: error \"ValueError\" \"", ": maximum stack depth ("],
        "a walk through a container that contains itself raises an error; upstream's stack overflows",
    ),
    ends(
        &["crash: signal 11"],
        &["Invalid JSON Object Graph: node ", " contains itself"],
        "a graph whose node contains itself raises an error",
    ),
    ends(
        &["crash: signal 11"],
        &["Check failed: (args.size() % 2 == 1) is false"],
        "ffi.MakeObjectFromPackedArgs without arguments raises an error",
    ),
    ends(
        &["Call: "],
        &["Call: error \"IndexError\" \"The iteration stands at no entry"],
        "an iterator that stands at no entry raises an error; upstream reads beside the entries",
    ),
    ends(&["Builtin: "], NONE_AS_CALLBACK, CALLBACK),
    ends(&["crash: signal 11"], NONE_AS_CALLBACK, CALLBACK),
    passes(
        &["Attr: error \"RuntimeError\" \"TypeAttr", "is already registered for type index"],
        &["Attr: error \"RuntimeError\" \"Type `", "is already registered"],
        WORDS,
    ),
    passes(
        &["Duplicate field name"],
        &["Field: error \"InternalError\" \"", "Duplicate field name"],
        WORDS,
    ),
    passes(
        &["Metadata: error \"RuntimeError\" \"Overriding"],
        &["Metadata: error \"RuntimeError\" \"Overriding"],
        WORDS,
    ),
    ends(
        &["SetGlobal", ": error \"RuntimeError\" \"Global Function"],
        &["SetGlobal", ": ok"],
        "registering the same function again under the same name is not an error",
    ),
    ends(
        &["Mismatched type", "but got `ObjectRValueRef`"],
        &["Builtin: "],
        "an object that may be moved is an argument like any other; some of upstream's parameters refuse it",
    ),
    ends(
        &["crash: exit status 255"],
        &["Builtin: error \"InternalError\" \"Cannot find type info"],
        "ffi.MakeObjectFromPackedArgs with an unknown type index raises an error; upstream ends the process",
    ),
    passes(
        &["error \"InternalError\" \"Check failed: (args.size() % 2 == 1) is false"],
        &["error \"InternalError\" \"Cannot find type info"],
        "ffi.MakeObjectFromPackedArgs looks for the type first, upstream at the number of arguments",
    ),
    passes(
        &["Signals: error"],
        &["Signals: error \"EnvErrorAlreadySet\""],
        "TVMFFIEnvCheckSignals raises an error whenever it fails; upstream leaves that to its callers",
    ),
    ends(&["Library: "], &["Library: error \"InternalError\" \"Malformed library binary"], TREE),
    ends(&["crash"], &["Library: error \"InternalError\" \"Malformed library binary"], TREE),
    ends(
        &["Library: error \"InternalError\" \"Check failed: (stream.Read("],
        &["Library: "],
        "a module without content may be the last one in a library; upstream's reader fails at the end",
    ),
    ends(
        &["Library: "],
        &["Library: error \"RuntimeError\" \"Cyclic dependency detected during import"],
        "modules in a library that import each other are refused; upstream never releases them",
    ),
    ends(&["crash"], &["Null: error \"ValueError\""], NULL),
    ends(&["Null: "], &["Null: error \"ValueError\" \"Argument"], NULL),
];

/// Returns the entry of a difference of two notes, or None for a defect.
pub fn difference(upstream: &str, ours: &str) -> Option<&'static Difference> {
    if without_source(upstream) == without_source(ours) {
        return Some(&SOURCE);
    }
    if in_ascii(&without_source(upstream)) == in_ascii(&without_source(ours)) {
        return Some(&UTF_8);
    }
    if upstream.contains("root_index") && json_members(upstream) == json_members(ours) {
        return Some(&FIELD_ORDER);
    }
    let matches =
        |known: &&Difference| has_all(upstream, known.upstream) && has_all(ours, known.ours);
    DIFFERENCES.iter().find(matches)
}

const UTF_8: Difference =
    passes(&[], &[], "messages are UTF-8: other bytes of arguments are replaced in them");

const FIELD_ORDER: Difference = passes(
    &[],
    &[],
    "in JSON, a field with the name of one of the parent class has the parent's place; upstream writes it last",
);

/// Returns the members of the objects in JSON, sorted.
fn json_members(note: &str) -> Vec<&str> {
    let mut members: Vec<_> = note.split([',', '{', '}']).collect();
    members.sort_unstable();
    members
}

/// Replaces each run of escaped bytes that are not ASCII.
fn in_ascii(note: &str) -> String {
    let mut out = String::new();
    for (at, part) in note.split("\\x").enumerate() {
        let is_escape = at > 0 && part.starts_with(['8', '9', 'a', 'b', 'c', 'd', 'e', 'f']);
        match part.get(2..) {
            Some(rest) if is_escape && out.ends_with("\\x??") => out += rest,
            Some(rest) if is_escape => out += &format!("\\x??{rest}"),
            _ if at > 0 => out += &format!("\\x{part}"),
            _ => out += part,
        }
    }
    out
}

const SOURCE: Difference = passes(&[], &[], "messages of upstream's checks repeat its source");

/// Removes the condition of a check from a message: `Check failed: (CONDITION) is false: ` and the
/// like.
fn without_source(note: &str) -> String {
    let Some((before, after)) = note.split_once("Check failed: ") else { return note.into() };
    let end =
        [") is false: ", ") : "].iter().filter_map(|end| Some(after.find(end)? + end.len())).min();
    format!("{before}{}", &after[end.unwrap_or(0)..])
}

fn has_all(note: &str, parts: &[&str]) -> bool {
    let mut rest = note;
    parts.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}
