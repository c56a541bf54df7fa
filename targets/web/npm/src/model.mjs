// Models, which a page loads and calls.
import { ModelError, NoWebGPUError } from "./errors.mjs";
import { ARRAY, Instance, Ref, TENSOR } from "./instance.mjs";
import { compile, describe } from "./source.mjs";
import { CPU, WEBGPU, asArray, bytesOf, checkArray, empty, inspect, named } from "./tensor.mjs";
import { Gpu, requestDevice } from "./webgpu.mjs";

/** Kind of the machine's allocators, which keep freed memory. */
const POOLED = 2;

export class Model {
  /** Loads a model from an address, a response, bytes or a module, or from the first of `{ webgpu, cpu }` that the page can run. */
  static async load(source, options = {}) {
    const { device = "auto" } = options;
    if (Object.getPrototypeOf(source) !== Object.prototype) return start(source, device, options);
    const choices = ["webgpu", "cpu"].filter((one) => source[one] && ["auto", one].includes(device));
    for (const choice of choices) {
      try {
        return await start(source[choice], choice, options);
      } catch (error) {
        if (!(error instanceof NoWebGPUError) || choice === choices.at(-1)) throw error;
      }
    }
    throw noModel(device);
  }

  #instance;
  #gpu;
  #description;
  #machine;
  /** Functions and the tensors of their inputs, by name. */
  #called = new Map();

  constructor(description, instance, machine, gpu) {
    this.#description = description;
    this.#instance = instance;
    this.#machine = machine;
    this.#gpu = gpu;
  }

  /** `cpu` or `webgpu`. */
  get device() {
    return this.#description.device;
  }

  /** Inputs and outputs of each function. */
  get functions() {
    return this.#description.functions;
  }

  /** Calls a function with arrays by the names of its inputs. Returns tensors by the names of its outputs. */
  async run(inputs, name = this.#description.entry) {
    if (!this.#instance) throw new ModelError("DisposedError", "The model is disposed");
    if (!Object.hasOwn(this.functions, name)) throw new TypeError(`The model has no function ${name}`);
    const declared = this.functions[name];
    declared.inputs.forEach((input) => checkArray(input, inputs?.[input.name]));
    const call = async () => settled(this.#call(name, declared, inputs));
    return named(declared, await (this.#gpu ? this.#gpu.complete(call) : call()));
  }

  /** Runs a function several times, and returns the mean calls and times of its operators, or of its kernels on WebGPU. */
  async profile(inputs, name, runs = 10) {
    const { profileKernels, profileOperators } = await import("./profile.mjs");
    if (this.#gpu) return profileKernels(this.#gpu, () => this.run(inputs, name), runs);
    // A machine keeps its instrument, so another one has it.
    const machine = await startMachine(this.#instance);
    const model = new Model(this.#description, this.#instance, machine);
    return profileOperators(this.#instance, machine, () => model.run(inputs, name), runs).finally(() => model.dispose());
  }

  /** Releases the model. Calls under way and later ones are errors. */
  dispose() {
    for (const { body, tensors } of this.#called.values()) [body, ...tensors].forEach((one) => one.dispose());
    this.#machine?.dispose();
    this.#called.clear();
    this.#gpu?.dispose();
    this.#instance = this.#gpu = this.#machine = undefined;
  }

  /** For `using`. Browsers without it call the method `undefined`. */
  [Symbol.dispose]() {
    this.dispose();
  }

  #call(name, { inputs }, arrays) {
    let found = this.#called.get(name);
    if (!found) this.#called.set(name, (found = this.#prepare(name, inputs)));
    inputs.forEach((input, at) => this.#upload(found.places[at], bytesOf(arrays[input.name])));
    return this.#take(this.#instance.call(found.body, ...found.tensors));
  }

  /** Returns a function and tensors for its inputs, which all calls use: a call has read them when it ends. */
  #prepare(name, inputs) {
    const tensors = inputs.map((input) => empty(this.#instance, this.#gpu ? WEBGPU : CPU, input));
    return { body: this.#instance.find(this.#machine, name), tensors, places: tensors.map(inspect) };
  }

  #upload({ data, offset }, bytes) {
    if (this.#gpu) this.#gpu.upload(data, offset, bytes);
    else this.#instance.bytes(data + offset, bytes.length).set(bytes);
  }

  /** Returns a result as arrays of JavaScript, or promises of them, and releases it. */
  #take(value) {
    if (!(value instanceof Ref)) return value;
    try {
      if (value.type === ARRAY) return this.#elements(value).map((element) => this.#take(element));
      if (value.type === TENSOR) return this.#download(value);
      throw new ModelError("TypeError", "The result is not a tensor");
    } finally {
      value.dispose();
    }
  }

  #elements(array) {
    const length = this.#instance.global("ffi.ArraySize", array);
    return Array.from({ length }, (_, at) => this.#instance.global("ffi.ArrayGetItem", array, at));
  }

  #download(tensor) {
    const { device, data, offset, shape, dtype, size } = inspect(tensor);
    const instance = this.#instance;
    const result = (buffer) => ({ shape, dtype, data: asArray(dtype, buffer) });
    if (device === WEBGPU) return this.#gpu.read(this.#gpu.buffer(data), offset, size).then(result);
    const copy = () => result(instance.bytes(data + offset, size).slice().buffer);
    if (!this.#gpu) return copy();
    // The model may have copied the result from the GPU, which is complete later.
    const kept = tensor.clone();
    return this.#gpu.copied().then(copy).finally(() => kept.dispose());
  }
}

/** Waits for promises in arrays of arrays. */
async function settled(result) {
  return Array.isArray(result) ? Promise.all(result.map(settled)) : result;
}

/** Starts a model. A GPU that is asked for is requested before the download. */
async function start(source, device, { memoryLimit, signal }) {
  let found;
  try {
    if (device === "webgpu") found = await requestDevice();
    const module = await compile(source, signal);
    const description = describe(module);
    if (device !== "auto" && device !== description.device) throw noModel(device);
    if (description.device === "webgpu") found ??= await requestDevice();
    const instance = await Instance.start(module);
    if (memoryLimit !== undefined) instance.global("ferrite.web.set_memory_limit", memoryLimit);
    const gpu = found && new Gpu(instance, found);
    return new Model(description, instance, await startMachine(instance, gpu), gpu);
  } catch (error) {
    found?.destroy();
    throw error;
  }
}

function noModel(device) {
  return new TypeError(`The source has no model for the device ${device}`);
}

/** Makes a machine, which uploads weights, and its pipelines. */
function startMachine(instance, gpu) {
  const begin = async () => {
    const library = instance.global("ffi.SystemLib");
    const machine = instance.method(library, "vm_load_executable");
    library.dispose();
    instance.method(machine, "vm_initialization", gpu ? WEBGPU : CPU, 0, POOLED, CPU, 0, POOLED);
    await gpu?.pipelines.prepare(machine);
    return machine;
  };
  return gpu ? gpu.complete(begin) : begin();
}
