//! Steps with the API of TVM 0.5 to 0.20 as C.

use super::values::{c_text, class, list, literal, number, sizes};
use crate::machine::{LEGACY_NULLS, copied_bytes};
use crate::program::{Legacy, Meta};
use crate::texts::{self, CLASSES, GLOBALS};

/// Calls with null pointers, in the order of `LEGACY_NULLS`.
const NULL_CALLS: &[&str] = &[
    "TVMFuncCall(NULL, NULL, NULL, 0, NULL, NULL)",
    "TVMFuncGetGlobal(NULL, NULL)",
    "TVMFuncRegisterGlobal(NULL, NULL, 0)",
    "TVMFuncRemoveGlobal(NULL)",
    "TVMFuncListGlobalNames(NULL, NULL)",
    "TVMFuncCreateFromCFunc(NULL, NULL, NULL, NULL)",
    "TVMFuncFree(NULL)",
    "TVMCFuncSetReturn(NULL, NULL, NULL, 1)",
    "TVMCbArgToReturn(NULL, NULL)",
    "TVMArrayAlloc(NULL, 1, kDLFloat, 32, 1, kDLCPU, 0, NULL)",
    "TVMArrayFree(NULL)",
    "TVMArrayCopyFromBytes(NULL, NULL, 1)",
    "TVMArrayCopyToBytes(NULL, NULL, 1)",
    "TVMArrayCopyFromTo(NULL, NULL, NULL)",
    "TVMArrayFromDLPack(NULL, NULL)",
    "TVMArrayToDLPack(NULL, NULL)",
    "TVMModGetFunction(NULL, NULL, 0, NULL)",
    "TVMModImport(NULL, NULL)",
    "TVMModLoadFromFile(NULL, NULL, NULL)",
    "TVMModFree(NULL)",
    "TVMNodeFree(NULL)",
    "TVMByteArrayFree(NULL)",
    "TVMExtTypeFree(NULL, 20)",
    "TVMBackendRegisterEnvCAPI(NULL, NULL)",
    "TVMBackendRegisterSystemLibSymbol(NULL, NULL)",
    "TVMObjectTypeIndex2Key(UINT32_MAX, NULL)",
    "TVMNodeGetAttr(NULL, NULL, NULL, NULL, NULL)",
];

/// Returns the call of a step.
pub(super) fn call(call: &Legacy) -> String {
    match call {
        Legacy::Call { function, args } => {
            format!("do_legacy_call({}, {})", function.0, list(args))
        }
        Legacy::GetGlobal { name } => format!("do_legacy_get_global({})", c_text(name)),
        Legacy::SetGlobal { name, function, allow_override } => format!(
            "do_legacy_set_global(\"{}\", {}, {})",
            texts::choose(GLOBALS, *name),
            function.0,
            number(*allow_override)
        ),
        Legacy::RemoveGlobal { name } => {
            format!("do_legacy_remove_global(\"{}\")", texts::choose(GLOBALS, *name))
        }
        Legacy::ListGlobals {} => "do_legacy_list_globals()".into(),
        Legacy::Function { fails } => format!("do_legacy_function({})", number(*fails)),
        Legacy::Array { meta, bytes, exact } => {
            format!("do_legacy_array({}, {})", array(meta), copied_bytes(meta, *bytes, *exact))
        }
        Legacy::CopyArray { from, to } => format!("do_legacy_copy_array({}, {})", from.0, to.0),
        Legacy::DlPack { tensor, back } => {
            format!("do_legacy_dlpack({}, {})", tensor.0, number(*back))
        }
        Legacy::Object { object, attribute } => {
            format!("do_legacy_object({}, {})", object.0, c_text(attribute))
        }
        Legacy::Key { key, parent } => {
            format!("do_legacy_key({}, \"{}\")", c_text(key), CLASSES[class(*parent)])
        }
        Legacy::Module { module, name, imports } => {
            format!("do_legacy_module({}, {}, {})", module.0, c_text(name), number(*imports))
        }
        Legacy::Import { module, imported } => {
            format!("do_legacy_import({}, {})", module.0, imported.0)
        }
        Legacy::LoadModule { object } => {
            let file = object.file();
            format!("do_legacy_load_module({}, {})", literal(&file), file.len())
        }
        Legacy::Error { text, python } => {
            format!("do_legacy_error({}, {})", c_text(text), number(*python))
        }
        Legacy::Device { device_type, device_id, stream: true, .. } => {
            format!("do_legacy_streams({device_type}, {device_id})")
        }
        Legacy::Device { device_type, device_id, size, alignment, .. } => {
            format!("do_legacy_memory({device_type}, {device_id}, {size}, {alignment})")
        }
        Legacy::FuncFromEnv { module, name } => {
            format!("do_legacy_func_from_env({}, {})", module.0, c_text(name))
        }
        Legacy::Null { call } => {
            let at = usize::from(*call) % LEGACY_NULLS.len();
            format!("do_null({}, \"{}\")", NULL_CALLS[at], LEGACY_NULLS[at].0)
        }
    }
}

fn array(meta: &Meta) -> String {
    let (shape, _) = meta.sizes_and_strides();
    let Meta { code, bits, lanes, device_type, device_id, .. } = meta;
    format!(
        "{}, {}, {code}, {bits}, {lanes}, {device_type}, {device_id}",
        sizes(&shape),
        meta.ndim()
    )
}
