//! Tests of the tensor cache. The cache is one for the process: each test uses names of its own,
//! and one alone clears it.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cache::clear;
use super::load;
use crate::builtins::testing::{call, failure};
use ferrite_alloc_ext::containers::{Array, ArrayObject};
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::tensor::TensorView;
use ferrite_core::{Any, AnyView, String, Tensor};

/// Lets one test at a time use the cache.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    clear();
    guard
}

fn text(text: &str) -> String {
    String::new(text).unwrap()
}

fn numbers(first: f32) -> Tensor {
    Tensor::from_slice(&[first, first + 1.0], &[2]).unwrap()
}

fn add(name: &str, tensor: &Tensor) {
    call("vm.builtin.tensor_cache.update", &[(&text(name)).into(), tensor.into(), true.into()]);
}

fn found(name: &str) -> Option<Tensor> {
    call("vm.builtin.tensor_cache.get", &[(&text(name)).into()]).get().unwrap()
}

#[test]
fn tensors_are_added_replaced_only_when_asked_and_removed() {
    let _alone = alone();
    let (name, update) = (text("w"), "vm.builtin.tensor_cache.update");
    let (one, two) = (numbers(1.0), numbers(2.0));
    assert!(found("w").is_none());
    call(update, &[(&name).into(), (&one).into()]);
    assert!(found("w").unwrap().as_object().ptr_eq(one.as_object()));
    let message =
        "Check failed: pool->pool_.count(name) == 0 (1 vs. 0) : Name w already exists in the cache";
    failure(update, &[(&name).into(), (&two).into()], "InternalError", message);
    failure(update, &[(&name).into(), (&two).into(), false.into()], "InternalError", message);
    assert!(found("w").unwrap().as_object().ptr_eq(one.as_object()));
    add("w", &two);
    assert!(found("w").unwrap().as_object().ptr_eq(two.as_object()));
    call("vm.builtin.tensor_cache.remove", &[(&name).into()]);
    call("vm.builtin.tensor_cache.remove", &[(&name).into()]);
    assert!(found("w").is_none());
    let message = "Check failed: (args.size() == 2 || args.size() == 3) is false: ";
    failure(update, &[(&name).into()], "InternalError", message);
}

#[test]
fn a_borrowed_tensor_is_copied() {
    let _alone = alone();
    let tensor = numbers(3.0);
    // SAFETY: the tensor outlives the view.
    let borrowed =
        unsafe { TensorView::new(core::ptr::NonNull::new(tensor.as_dl_tensor_ptr()).unwrap()) };
    call("vm.builtin.tensor_cache.update", &[(&text("b")).into(), AnyView::from(borrowed)]);
    let copy = found("b").unwrap();
    assert_ne!(copy.dl_tensor().data, tensor.dl_tensor().data);
    assert_eq!(copy.as_slice::<f32>().unwrap(), [3.0, 4.0]);
}

#[test]
fn parameters_are_found_by_number_and_by_name() {
    let _alone = alone();
    (0..3).for_each(|at| add(&std::format!("p_{at}"), &numbers(at as f32)));
    let firsts = |params: Any| -> std::vec::Vec<f32> {
        let params = params.get::<Array<Tensor>>().unwrap();
        params.iter().map(|tensor| tensor.unwrap().as_slice::<f32>().unwrap()[0]).collect()
    };
    let prefix = text("p");
    let by_number = |count: i64| [(&prefix).into(), count.into()];
    assert_eq!(firsts(call("vm.builtin.param_array_from_cache", &by_number(-1))), [0.0, 1.0, 2.0]);
    assert_eq!(firsts(call("vm.builtin.param_array_from_cache", &by_number(2))), [0.0, 1.0]);
    failure(
        "vm.builtin.param_array_from_cache",
        &by_number(4),
        "InternalError",
        "Cannot find p_3 in cache",
    );
    let names = ArrayObject::from_slice(&[Any::from(text("p_2")), Any::from(text("p_0"))]).unwrap();
    assert_eq!(
        firsts(call("vm.builtin.param_array_from_cache_by_name", &[(&names).into()])),
        [2.0, 0.0]
    );
    let module: Module =
        call("vm.builtin.param_module_from_cache_by_name", &[(&names).into()]).get().unwrap();
    assert_eq!(module.kind().unwrap(), c"param_module");
    let params = module.get_function(&text("get_params"), false).unwrap().unwrap();
    assert_eq!(firsts(params.call_packed(&[]).unwrap()), [2.0, 0.0]);
    let module: Module = call("vm.builtin.param_module_from_cache", &by_number(-1)).get().unwrap();
    let params = module.get_function(&text("get_params"), false).unwrap().unwrap();
    assert_eq!(firsts(params.call_packed(&[]).unwrap()), [0.0, 1.0, 2.0]);
    assert!(module.get_function(&text("other"), false).unwrap().is_none());
    let (one, unknown) = (text("p_1"), text("q"));
    let unpacked = "vm.builtin.param_array_from_cache_by_name_unpacked";
    assert_eq!(firsts(call(unpacked, &[(&one).into(), (&one).into()])), [1.0, 1.0]);
    let message = "Cannot find parameter in cache: q";
    failure(unpacked, &[(&one).into(), (&unknown).into()], "ValueError", message);
    let message = "Expect string as input, but get int at 1";
    failure(unpacked, &[(&one).into(), 3i64.into()], "ValueError", message);
    call("vm.builtin.tensor_cache.clear", &[]);
    assert!(firsts(call("vm.builtin.param_array_from_cache", &by_number(-1))).is_empty());
}

/// A folder with an index and one file of 16 bytes, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, index: &str) -> Folder {
        let path = std::env::temp_dir()
            .join(std::format!("ferrite-tensor-cache-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("tensor-cache.json"), index).unwrap();
        let halves = [0x3f80u16, 0xc000].map(u16::to_le_bytes).concat();
        let numbers = [5i32, 6, 7].map(i32::to_le_bytes).concat();
        std::fs::write(path.join("shard.bin"), [halves, numbers].concat()).unwrap();
        Folder(path)
    }

    /// Creates an index with one record in a file.
    fn with_record(name: &str, record: &str) -> Folder {
        let shard = r#"{"dataPath": "shard.bin", "format": "raw-shard", "nbytes": 16, "records": "#;
        Folder::new(
            name,
            &std::format!(r#"{{"metadata": {{}}, "records": [{shard} [{record}]}}]}}"#),
        )
    }

    fn load(&self) -> Result<()> {
        load::load(text(self.0.to_str().unwrap()), 1, 0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HALVES: &str = r#"{"name": "h", "shape": [1, 2], "dtype": "float32", "format": "f32-to-bf16", "nbytes": 4, "byteOffset": 0}"#;
const WORDS: &str = r#"{"name": "w", "shape": [3], "dtype": "int32", "format": "raw", "nbytes": 12, "byteOffset": 4}"#;

#[test]
fn a_folder_is_loaded_and_halves_are_decoded() {
    let _alone = alone();
    let folder = Folder::with_record("good", &std::format!("{HALVES}, {WORDS}"));
    add("w", &numbers(0.0)); // is replaced
    let path = text(folder.0.to_str().unwrap());
    call("vm.builtin.tensor_cache.load", &[(&path).into(), 1i64.into(), 0i64.into()]);
    let (halves, words) = (found("h").unwrap(), found("w").unwrap());
    assert_eq!(
        (halves.shape(), &halves.as_slice::<f32>().unwrap()[..]),
        (&[1, 2][..], &[1.0, -2.0][..])
    );
    assert_eq!((words.shape(), &words.as_slice::<i32>().unwrap()[..]), (&[3][..], &[5, 6, 7][..]));
}

#[test]
fn malformed_folders_are_errors() {
    let _alone = alone();
    let refuse = |folder: &Folder, kind: &str, message: &str| {
        let error = folder.load().unwrap_err();
        let found = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
        assert_eq!(
            (error.kind_bytes(), found.contains(message)),
            (kind.as_bytes(), true),
            "{found}"
        );
    };
    let missing = Folder(PathBuf::from("/nowhere"));
    refuse(&missing, "InternalError", "Cannot open /nowhere/tensor-cache.json");
    refuse(&Folder::new("text", "{"), "InternalError", "Failed to parse JSON: ");
    refuse(&Folder::new("list", "[]"), "ValueError", "The given string is not a JSON object: []");
    refuse(&Folder::new("empty", "{}"), "KeyError", "The index lacks the field records");
    let shard = |format: &str, bytes: u32| {
        std::format!(
            r#"{{"records": [{{"dataPath": "shard.bin", "format": "{format}", "nbytes": {bytes}, "records": []}}]}}"#
        )
    };
    let message =
        "Error when loading parameters from shard.bin: Only `raw-shard` format is supported";
    refuse(&Folder::new("format", &shard("zip", 16)), "ValueError", message);
    let message = "Encountered an corrupted parameter shard";
    refuse(&Folder::new("short", &shard("raw-shard", 17)), "ValueError", message);
    let change = |from: &str, to: &str| Folder::with_record("record", &WORDS.replace(from, to));
    refuse(
        &change("\"byteOffset\": 4", "\"byteOffset\": 8"),
        "ValueError",
        "The bytes of w are not in the file",
    );
    refuse(
        &change("\"byteOffset\": 4", "\"byteOffset\": -4"),
        "ValueError",
        "The bytes of w are not in the file",
    );
    refuse(&change("\"byteOffset\": 4", "\"byteOffset\": 9e18"), "ValueError", "shard.bin");
    refuse(
        &change("\"nbytes\": 12", "\"nbytes\": 8"),
        "ValueError",
        "w has 8 bytes, which are not those",
    );
    refuse(&change("[3]", "[-3]"), "ValueError", "shard.bin");
    refuse(&change("[3]", "[4611686018427387904, 8]"), "ValueError", "shard.bin");
    refuse(&change("int32", "int33x"), "ValueError", "shard.bin");
    refuse(&change("\"name\": \"w\", ", ""), "ValueError", "shard.bin");
    let halves = Folder::with_record("halves", &HALVES.replace("\"nbytes\": 4", "\"nbytes\": 3"));
    refuse(&halves, "ValueError", "h has 4 bytes, which are not those");
    assert!(found("w").is_none() && found("h").is_none());
}
