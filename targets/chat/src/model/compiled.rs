//! Models that TVM compiled in the shape of MLC-LLM's.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ferrite::abi::DLDevice;
use ferrite::device::Device;
use ferrite::relax::memory;
use ferrite::{
    Any, AnyView, Array, Function, Module, Result, Shape, String, Tensor, bail, call, error,
};
use serde::Deserialize;

use super::{Appended, LanguageModel, Memory};
use crate::config::{Config, Window};

/// Kind of the allocators: freed memory is kept for the next step.
const POOLED: i64 = 2;

/// A library of a language model with its weights and a paged cache, on one device.
///
/// The library has the functions `embed`, `prefill`, `decode`, `batch_prefill`, `batch_decode`,
/// `create_paged_kv_cache` and `_metadata`, as MLC-LLM compiles them.
///
/// # Threads
/// One thread at a time may use a model.
pub struct CompiledModel {
    device: Device,
    functions: Functions,
    builtins: Builtins,
    params: Any,
    cache: Any,
    memory: Memory,
    tokens: Vec<i32>,
}

/// Functions of the library.
struct Functions {
    embed: Function,
    prefill: Function,
    decode: Function,
    batch_prefill: Function,
    batch_decode: Function,
}

/// Functions on caches and tensors.
struct Builtins {
    add: Function,
    fork: Function,
    pop: Function,
    remove: Function,
    slide: Function,
    begin: Function,
    end: Function,
    free_pages: Function,
    reshape: Function,
    to_device: Function,
}

impl Builtins {
    fn new() -> Result<Builtins> {
        let state = |name: &str| Function::global(&format!("vm.builtin.kv_state_{name}"));
        let cache = |name: &str| Function::global(&format!("vm.builtin.attention_kv_cache_{name}"));
        Ok(Builtins {
            add: state("add_sequence")?,
            fork: state("fork_sequence")?,
            pop: state("popn")?,
            remove: state("remove_sequence")?,
            slide: cache("enable_sliding_window_for_seq")?,
            begin: state("begin_forward")?,
            end: state("end_forward")?,
            free_pages: cache("get_num_available_pages")?,
            reshape: Function::global("vm.builtin.reshape")?,
            to_device: Function::global("vm.builtin.to_device")?,
        })
    }
}

/// The JSON text that `_metadata` returns.
#[derive(Deserialize)]
struct Metadata {
    params: Vec<Param>,
    prefill_chunk_size: Option<i64>,
}

#[derive(Deserialize)]
struct Param {
    name: std::string::String,
}

/// Sizes of a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheSizes {
    pub(crate) sequences: usize,
    pub(crate) tokens: usize,
}

impl CompiledModel {
    /// Loads a library and the weights of a folder, and creates a cache. Lowers the prefill chunk
    /// of the configuration to that of the library.
    ///
    /// # Errors
    /// Errors of [`Module::load`]; ValueError for a library that is not a language model, which
    /// names the missing function; errors of the model's functions; RuntimeError for a device that
    /// does not exist.
    pub(crate) fn load(
        library: &Path,
        folder: &Path,
        device: Device,
        config: &mut Config,
        sizes: CacheSizes,
    ) -> Result<CompiledModel> {
        if device != Device::CPU && !device.exists() {
            bail!(RuntimeError, "the device {device} does not exist");
        }
        let machine = machine(library, device)?;
        let find = |name: &str| function(&machine, library, name);
        let metadata: String = find("_metadata")?.call(())?;
        let metadata: Metadata = serde_json::from_slice(metadata.as_bytes())
            .map_err(|error| error!(ValueError, "{}: the metadata: {error}", library.display()))?;
        if let Some(chunk) =
            metadata.prefill_chunk_size.and_then(|chunk| usize::try_from(chunk).ok())
        {
            config.prefill_chunk = config.prefill_chunk.min(chunk.max(1));
        }
        let functions = Functions {
            embed: find("embed")?,
            prefill: find("prefill")?,
            decode: find("decode")?,
            batch_prefill: find("batch_prefill")?,
            batch_decode: find("batch_decode")?,
        };
        let create = find("create_paged_kv_cache")?;
        let (params, weights) = weights(folder, device, &metadata)?;
        let cache = create_cache(&create, config, sizes)?;
        let builtins = Builtins::new()?;
        let memory = Memory { weights, cache: cache_bytes(&cache, &builtins), arena: 0 };
        Ok(CompiledModel { device, functions, builtins, params, cache, memory, tokens: Vec::new() })
    }

    /// Returns a tensor on the model's device.
    fn tensor(&self, elements: &[i32]) -> Result<Tensor> {
        let tensor = Tensor::from_slice(elements, &[elements.len() as i64])?;
        if self.device == Device::CPU { Ok(tensor) } else { self.moved(&tensor, self.device) }
    }

    fn moved(&self, tensor: &Tensor, device: Device) -> Result<Tensor> {
        let DLDevice { device_type, device_id } = device.into();
        call!(self.builtins.to_device, tensor, device_type, device_id)
    }

    /// Runs the function for a step that has begun, and returns its logits.
    fn run(&self, step: &[Appended<'_>]) -> Result<Tensor> {
        let is_decode = step.iter().all(|one| one.tokens.len() == 1);
        let embedded: Tensor =
            call!(self.functions.embed, self.tensor(&self.tokens)?, &self.params)?;
        let Some(width) = embedded.shape().last().copied() else {
            bail!(ValueError, "`embed` returned a tensor without dimensions");
        };
        let count = self.tokens.len() as i64;
        let shape = if is_decode { [count, 1, width] } else { [1, count, width] };
        let embedded: Tensor = call!(self.builtins.reshape, embedded, Shape::from_slice(&shape)?)?;
        let Functions { prefill, decode, batch_prefill, batch_decode, .. } = &self.functions;
        let results: Array<Any> = match (step, is_decode) {
            ([_], true) => call!(decode, embedded, &self.cache, &self.params)?,
            (_, true) => call!(batch_decode, embedded, &self.cache, &self.params)?,
            ([_], false) => call!(prefill, embedded, &self.cache, &self.params)?,
            (_, false) => {
                let mut end = -1;
                let last = |one: &Appended<'_>| {
                    end += one.tokens.len() as i32;
                    end
                };
                let ends: Vec<_> = step.iter().map(last).collect();
                call!(batch_prefill, embedded, self.tensor(&ends)?, &self.cache, &self.params)?
            }
        };
        let logits: Tensor = results.get(0)?.get()?;
        if self.device == Device::CPU { Ok(logits) } else { self.moved(&logits, Device::CPU) }
    }
}

impl LanguageModel for CompiledModel {
    fn add(&mut self, sequence: i64) -> Result<()> {
        call!(self.builtins.add, &self.cache, sequence)
    }

    fn fork(&mut self, parent: i64, child: i64, token_count: usize) -> Result<()> {
        call!(self.builtins.fork, &self.cache, parent, child, token_count as i64)
    }

    fn slide(&mut self, sequence: i64, window: Window) -> Result<()> {
        call!(self.builtins.slide, &self.cache, sequence, window.size as i64, window.sink as i64)
    }

    fn pop(&mut self, sequence: i64, token_count: usize) -> Result<()> {
        call!(self.builtins.pop, &self.cache, sequence, token_count as i64)
    }

    fn remove(&mut self, sequence: i64) -> Result<()> {
        call!(self.builtins.remove, &self.cache, sequence)
    }

    fn free_pages(&self) -> Result<usize> {
        let count: i64 = call!(self.builtins.free_pages, &self.cache)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn forward(&mut self, step: &[Appended<'_>], logits: &mut Vec<f32>) -> Result<()> {
        self.tokens.clear();
        self.tokens.extend(step.iter().flat_map(|one| one.tokens).map(|token| *token as i32));
        let sequences = Shape::try_from_iter(step.iter().map(|one| Ok(one.sequence)))?;
        let lengths = Shape::try_from_iter(step.iter().map(|one| Ok(one.tokens.len() as i64)))?;
        let () = call!(self.builtins.begin, &self.cache, sequences, lengths)?;
        let found = self.run(step)?;
        let () = call!(self.builtins.end, &self.cache)?;
        let rows = found.as_slice::<f32>()?;
        if rows.len() % step.len() != 0 {
            bail!(
                ValueError,
                "the model returned {} logits for {} sequences",
                rows.len(),
                step.len()
            );
        }
        logits.clear();
        logits.extend_from_slice(&rows);
        Ok(())
    }

    fn memory(&self) -> Memory {
        let arena = memory::usage(self.device.into()).peak;
        Memory { arena, ..self.memory }
    }
}

/// Loads a library and starts its machine on a device.
fn machine(library: &Path, device: Device) -> Result<Module> {
    let module = Module::load(library)?;
    let key = String::new("vm_load_executable")?;
    let Some(load) = module.get_function(&key, false)? else {
        bail!(
            ValueError,
            "{} is not a model that TVM's Relax compiler compiled",
            library.display()
        );
    };
    let machine: Module = load.call(())?;
    let DLDevice { device_type, device_id } = device.into();
    let host = [AnyView::from(1i64), AnyView::from(0i64), AnyView::from(POOLED)];
    let places = [
        AnyView::from(i64::from(device_type)),
        AnyView::from(i64::from(device_id)),
        AnyView::from(POOLED),
    ];
    let places = [places, host].concat();
    let count = if device == Device::CPU { 3 } else { 6 };
    machine.get("vm_initialization")?.call_packed(&places[..count])?;
    Ok(machine)
}

fn function(machine: &Module, library: &Path, name: &str) -> Result<Function> {
    let found = machine.get_function(&String::new(name)?, false)?;
    found.ok_or_else(|| {
        let library = library.display();
        error!(ValueError, "{library} has no function `{name}`, so it is not a language model in the shape of MLC-LLM's")
    })
}

/// Lock of loading weights: the builtins pass them on by name, in a table of the process.
static LOADING: Mutex<()> = Mutex::new(());

/// Loads the weights of a folder, in the order of the library, and returns them with their bytes.
fn weights(folder: &Path, device: Device, metadata: &Metadata) -> Result<(Any, usize)> {
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(path) = folder.to_str() else {
        bail!(ValueError, "the path {} is not UTF-8", folder.display());
    };
    let DLDevice { device_type, device_id } = device.into();
    let () = call!("vm.builtin.tensor_cache.load", path, device_type, device_id)?;
    let names = metadata.params.iter().map(|param| String::new(&param.name));
    let names = Array::try_from_iter(names.collect::<Result<Vec<_>>>()?)?;
    let params: Result<Array<Tensor>> = call!("vm.builtin.param_array_from_cache_by_name", &names);
    for name in names.iter() {
        let () = call!("vm.builtin.tensor_cache.remove", name?)?;
    }
    let params = params?;
    let mut bytes = 0;
    for tensor in params.iter() {
        bytes += tensor?.as_tensor_ref().size_bytes().unwrap_or(0);
    }
    Ok((params.into(), bytes))
}

fn create_cache(create: &Function, config: &Config, sizes: CacheSizes) -> Result<Any> {
    let number = |number: usize| Shape::from_slice(&[number as i64]);
    call!(
        create,
        number(sizes.sequences)?,
        number(sizes.tokens)?,
        number(config.prefill_chunk)?,
        number(config.page_size)?,
        number(config.sliding_window.is_some().into())?
    )
}

/// Returns the bytes of a new cache's pages; `None` for caches that do not describe themselves,
/// such as those with sliding windows.
fn cache_bytes(cache: &Any, builtins: &Builtins) -> Option<usize> {
    const SEQUENCE: i64 = 0;
    let describe = "vm.builtin.attention_kv_cache_get_checkpoint_metadata";
    let () = call!(builtins.add, cache, SEQUENCE).ok()?;
    let text =
        Function::global(describe).and_then(|describe| describe.call::<String>((cache, SEQUENCE)));
    let () = call!(builtins.remove, cache, SEQUENCE).ok()?;
    let pages: Pages = serde_json::from_slice(text.ok()?.as_bytes()).ok()?;
    let bits: usize =
        pages.dtype.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()?;
    let token = pages.num_kv_heads * (pages.qk_head_dim + pages.v_head_dim) * bits / 8;
    Some(pages.num_layers * pages.num_total_pages * pages.page_size * token)
}

/// The part of a cache's description that says how large it is.
#[derive(Deserialize)]
struct Pages {
    num_layers: usize,
    num_total_pages: usize,
    page_size: usize,
    num_kv_heads: usize,
    qk_head_dim: usize,
    v_head_dim: usize,
    dtype: std::string::String,
}
