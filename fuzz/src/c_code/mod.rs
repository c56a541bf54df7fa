//! Programs as C, for those who look into a finding: one line of C for each step, behind the
//! headers that have the steps.

mod legacy;
mod values;

use crate::builtins;
use crate::classes::FIELDS;
use crate::machine::{NULLS, alignment_of, major_of, name_of, target};
use crate::program::{Line, Program, Step};
use crate::texts::{self, ATTRIBUTES, CLASSES, GLOBALS, SYSTEM_SYMBOLS, Text};
use crate::worker::Run;
use values::{arg, c_text, chosen, class, kind, list, literal, number, push, set, tensor, text};

/// The steps in C.
const STEPS: &str = include_str!("../../c/steps.h");

/// The steps with the API of TVM 0.5 to 0.20, which only libraries with the feature `legacy` have.
const LEGACY_STEPS: &str = include_str!("../../c/legacy_steps.h");

/// Calls with null pointers, in the order of `NULLS`.
const NULL_CALLS: &[&str] = &[
    "TVMFFIAnyViewToOwnedAny(NULL, NULL)",
    "TVMFFIBigIntFromByteArray(NULL, NULL)",
    "TVMFFIBytesFromByteArray(NULL, NULL)",
    "TVMFFIDataTypeFromString(NULL, NULL)",
    "TVMFFIDataTypeToString(NULL, NULL)",
    "TVMFFIEnvModLookupFromImports(NULL, NULL, NULL)",
    "TVMFFIEnvModRegisterContextSymbol(NULL, NULL)",
    "TVMFFIEnvModRegisterSystemLibSymbol(NULL, NULL)",
    "TVMFFIEnvRegisterCAPI(NULL, NULL)",
    "TVMFFIEnvTensorAlloc(NULL, NULL)",
    "TVMFFIErrorCreate(NULL, NULL, NULL, NULL)",
    "TVMFFIErrorCreateWithCauseAndExtraContext(NULL, NULL, NULL, NULL, NULL, NULL)",
    "TVMFFIFunctionCall(NULL, NULL, 0, NULL)",
    "TVMFFIFunctionCreate(NULL, NULL, NULL, NULL)",
    "TVMFFIFunctionGetGlobal(NULL, NULL)",
    "TVMFFIFunctionSetGlobal(NULL, NULL, 0)",
    "TVMFFIFunctionSetGlobalFromMethodInfo(NULL, 0)",
    "TVMFFIHandleDeinitOnce(NULL, NULL)",
    "TVMFFIHandleInitOnce(NULL, NULL)",
    "TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, NULL)",
    "TVMFFIObjectDecRef(NULL)",
    "TVMFFIObjectIncRef(NULL)",
    "TVMFFIStringFromByteArray(NULL, NULL)",
    "TVMFFITensorCreateUnsafeView(NULL, NULL, NULL)",
    "TVMFFITensorFromDLPack(NULL, 0, 0, NULL)",
    "TVMFFITensorFromDLPackVersioned(NULL, 0, 0, NULL)",
    "TVMFFITensorToDLPack(NULL, NULL)",
    "TVMFFITensorToDLPackVersioned(NULL, NULL)",
    "TVMFFITypeKeyToIndex(NULL, NULL)",
    "TVMFFITypeRegisterAttr(kTVMFFIObject, NULL, NULL)",
    "TVMFFITypeRegisterField(kTVMFFIObject, NULL)",
    "TVMFFITypeRegisterMetadata(kTVMFFIObject, NULL)",
    "TVMFFITypeRegisterMethod(kTVMFFIObject, NULL)",
    "TVMFFITypeGetOrAllocIndex(NULL, -1, 1, 0, 0, kTVMFFIObject)",
];

/// Returns a C program that does the steps that ran, and prints the notes of the interpreter.
pub fn program(program: &Program, run: &Run) -> String {
    let mut out = format!("{STEPS}\n");
    if ran(program, run).any(|(_, line)| matches!(line.step, Step::Legacy { .. })) {
        push(&mut out, format_args!("{LEGACY_STEPS}\n"));
    }
    let mut main = String::from("int main(void) {\n  setvbuf(stdout, NULL, _IONBF, 0);\n");
    let mut forked = 0..0;
    for (number, line) in program.lines.iter().enumerate() {
        if forked.contains(&number) {
            continue;
        }
        // Also before a step that was left out.
        if run.joined(number) {
            main += "  join_threads();\n";
        }
        if !run.ran(number) {
            continue;
        }
        let mut text = statement(number, &line.step);
        if let Some(fork) = line.step.fork() {
            forked = number + 1..number + 1 + fork.steps;
            let lines = ran(program, run).filter(|(number, _)| forked.contains(number));
            let lines: String = lines
                .map(|(number, line)| format!("  {}\n", statement(number, &line.step)))
                .collect();
            push(&mut out, format_args!("static void steps_{number}(void) {{\n{lines}}}\n\n"));
        } else if line.other_thread {
            let body = format!("  (void)unused;\n  {text}\n  return NULL;\n");
            push(
                &mut out,
                format_args!("static void *step_{number}(void *unused) {{\n{body}}}\n\n"),
            );
            text = format!("on_thread(step_{number});");
        }
        push(&mut main, format_args!("  {text}\n"));
    }
    out + &main + "  finish();\n  return 0;\n}\n"
}

/// Returns the lines that ran, with their numbers.
fn ran<'a>(program: &'a Program, run: &'a Run) -> impl Iterator<Item = (usize, &'a Line)> {
    program.lines.iter().enumerate().filter(|(number, _)| run.ran(*number))
}

/// Returns the call of a step, with its number, its name and the register of its result.
fn statement(number: usize, step: &Step) -> String {
    let register = target(step).map_or(-1, |reg| i32::from(reg.0));
    let call = match step.fork() {
        Some(fork) => format!("do_fork(steps_{number}, {}, {})", fork.threads, fork.rounds),
        None => call(step),
    };
    format!("STEP({number}, \"{}\", {register}); {call};", name_of(step))
}

/// Returns the call of a step.
fn call(step: &Step) -> String {
    match step {
        Step::Set { value, .. } => set(value),
        Step::Own { value, .. } => format!("do_own({})", arg(value)),
        Step::Copy { from, .. } => format!("do_copy({})", from.0),
        Step::Drop { reg } => format!("do_drop({})", reg.0),
        Step::Function { callback, own, .. } => {
            format!("do_function({}, {})", kind(callback), own.0)
        }
        Step::Call { function, args, .. } => format!("do_call({}, {})", function.0, list(args)),
        Step::Builtin { name, args, .. } => {
            format!("do_builtin(\"{}\", {})", builtins::name(*name), list(args))
        }
        Step::GetGlobal { name, .. } => format!("do_get_global({})", text(name)),
        Step::SetGlobal { name, function, allow_override } => {
            format!(
                "do_set_global({}, {}, {})",
                chosen(GLOBALS, *name),
                function.0,
                number(*allow_override)
            )
        }
        Step::SetGlobalInfo { name, function, doc, allow_override } => format!(
            "do_set_global_info({}, {}, {}, {})",
            chosen(GLOBALS, *name),
            function.0,
            text(doc),
            number(*allow_override)
        ),
        Step::Error { kind, message, backtrace, .. } => {
            format!("do_error({}, {}, {})", text(kind), text(message), text(backtrace))
        }
        Step::ErrorWith { kind, message, cause, context, .. } => {
            format!("do_error_with({}, {}, {}, {})", text(kind), text(message), cause.0, context.0)
        }
        Step::Backtraced { reg, text: lines, mode } => {
            format!("do_backtraced({}, {}, {})", reg.0, text(lines), number(*mode))
        }
        Step::Raise { error, .. } => format!("do_raise({})", error.0),
        Step::RaiseText { kind, message, .. } => {
            format!("do_raise_text({}, {})", c_text(kind), c_text(message))
        }
        Step::RaiseParts { kind, parts, .. } => {
            let part =
                |part: &Text| if part.c_string() == b"x\0" { "NULL".into() } else { c_text(part) };
            let all: Vec<_> = parts.iter().map(part).chain(["NULL".to_string()]).collect();
            format!(
                "do_raise_parts({}, (const char *[]){{{}}}, {})",
                c_text(kind),
                all.join(", "),
                parts.len()
            )
        }
        Step::Opaque { odd_index, .. } => format!("do_opaque({})", number(*odd_index)),
        Step::Class { class: key, parent, slots, overflow } => {
            let parent = (usize::from(*parent) % (CLASSES.len() + 1)) as i32 - 1;
            format!("do_class({}, {parent}, {}, {})", class(*key), slots % 4, number(*overflow))
        }
        Step::KeyToIndex { key } => format!("do_key_to_index({})", text(key)),
        Step::TypeInfo { index, dynamic } => {
            format!(
                "do_type_info({})",
                if *dynamic { 128 + i32::from(index % 16) } else { i32::from(*index) }
            )
        }
        Step::Field { class: key, field, flags, default } => format!(
            "do_field({}, {}, {}, {})",
            class(*key),
            usize::from(*field) % FIELDS.len(),
            flags & 0x17ff,
            default.0
        ),
        Step::Method { class: key, name, function, is_static } => {
            format!(
                "do_method({}, {}, {}, {})",
                class(*key),
                text(name),
                function.0,
                number(*is_static)
            )
        }
        Step::Metadata { class: key, kind, doc } => {
            format!("do_metadata({}, {}, {})", class(*key), kind % 6, text(doc))
        }
        Step::Attr { class: key, name, value } => {
            format!("do_attr({}, {}, {})", class(*key), chosen(ATTRIBUTES, *name), value.0)
        }
        Step::Column { name } => format!("do_column({})", text(name)),
        Step::New { class: key, .. } => format!("do_new({})", class(*key)),
        Step::GetField { object, field, .. } => format!("do_get_field({}, {field})", object.0),
        Step::SetField { object, field, value } => {
            format!("do_set_field({}, {field}, {})", object.0, arg(value))
        }
        Step::PyClass { class: key, init_only } => {
            format!("do_py_class({}, {})", class(*key), number(*init_only))
        }
        Step::Import { meta, versioned, major, flags, alignment, contiguous, .. } => format!(
            "do_import({}, {}, {flags}, {}, {}, {})",
            tensor(meta),
            if *versioned { major_of(*major) } else { 0 },
            alignment_of(*alignment),
            number(*contiguous),
            number(meta.fits())
        ),
        Step::Export { tensor, versioned, back, .. } => {
            format!("do_export({}, {}, {})", tensor.0, number(*versioned), number(*back))
        }
        Step::View { source, meta, .. } => format!("do_view({}, {})", source.0, tensor(meta)),
        Step::TensorAlloc { meta, .. } => format!("do_tensor_alloc({})", tensor(meta)),
        Step::DataTypeFromText { text: name, .. } => {
            format!("do_data_type_from_text({})", text(name))
        }
        Step::DataTypeToText { code, bits, lanes, .. } => {
            format!("do_data_type_to_text({code}, {bits}, {lanes})")
        }
        Step::BigIntContent { reg } => format!("do_big_int_content({})", reg.0),
        Step::Backtrace { crossing } => format!("do_backtrace({})", number(*crossing)),
        Step::InitOnce { init_fails, deinit_fails, empty } => {
            format!(
                "do_init_once({}, {}, {})",
                number(*init_fails),
                number(*deinit_fails),
                number(*empty)
            )
        }
        Step::Stream { device_type, device_id, stream } => {
            format!("do_stream({device_type}, {device_id}, {stream})")
        }
        Step::Allocator { mode, global } => {
            format!("do_allocator({}, {})", mode % 3, number(*global))
        }
        Step::Signals { fails } => format!("do_signals({})", number(*fails)),
        Step::CApi { name } => format!("do_c_api({})", c_text(name)),
        Step::ContextSymbol { name } => format!("do_context_symbol({})", c_text(name)),
        Step::SystemSymbol { name } => {
            format!("do_system_symbol(\"{}\")", texts::choose(SYSTEM_SYMBOLS, *name))
        }
        Step::Imports { module, name } => format!("do_imports({}, {})", module.0, c_text(name)),
        Step::Workspace { device_type, size } => format!("do_workspace({device_type}, {size})"),
        Step::Launch { tasks, fails, barrier } => {
            format!("do_launch({}, {}, {})", tasks % 9, number(*fails), number(*barrier))
        }
        Step::RunOnce { fails } => format!("do_run_once({})", number(*fails)),
        Step::Version {} => "do_version()".into(),
        Step::ObjectAllocator {} => "do_object_allocator()".into(),
        Step::Null { call } => {
            let at = usize::from(*call) % NULLS.len();
            format!("do_null({}, \"{}\")", NULL_CALLS[at], NULLS[at].0)
        }
        Step::ExternC { callback, own, .. } => {
            format!("do_extern_c({}, {})", kind(callback), own.0)
        }
        Step::Weak { reg, released } => format!("do_weak({}, {})", reg.0, number(*released)),
        Step::Payload { payload, .. } => {
            let bytes = payload.bytes();
            format!("do_bytes(text({}, {}))", literal(&bytes), bytes.len())
        }
        Step::Library { object, .. } => {
            let file = object.file();
            format!("do_library({}, {})", literal(&file), file.len())
        }
        Step::Legacy { call, .. } => legacy::call(call),
        Step::Join {} => "do_join()".into(),
        Step::Fork { .. } => unreachable!("needs the number of the step"),
    }
}
