// Models, which a page loads and calls.
import { ModelError, NoWebGPUError } from "./errors.mjs";
import { Instance, Ref, TYPE } from "./instance.mjs";
import { compile, describe } from "./source.mjs";
import { CPU, WEBGPU, asArray, bytesOf, checkArray, empty, inspect } from "./tensor.mjs";

/** Kind of the machine's allocators, which keep freed memory. */
const POOLED = 2;

export class Model {
  /** Loads a model from an address, a response, bytes or a module, or the one of `{ cpu, webgpu }` for the device. */
  static async load(source, { device = "auto", memoryLimit, signal } = {}) {
    const module = await compile(source, signal);
    const description = describe(module);
    if (device !== "auto" && device !== description.device) {
      throw new ModelError("ValueError", `The model is for the device ${description.device}, not ${device}`);
    }
    const instance = await Instance.start(module);
    if (memoryLimit !== undefined) instance.global("ferrite.web.set_memory_limit", memoryLimit);
    return new Model(instance, description);
  }

  #instance;
  #description;
  #device;
  #machine;
  /** Functions and the tensors of their inputs, by name. */
  #called = new Map();
  #disposed = false;

  constructor(instance, description) {
    this.#instance = instance;
    this.#description = description;
    this.#device = CPU;
    const library = instance.global("ffi.SystemLib");
    this.#machine = instance.method(library, "vm_load_executable");
    library.dispose();
    instance.method(this.#machine, "vm_initialization", this.#device, 0, POOLED, CPU, 0, POOLED);
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
    if (this.#disposed) throw new ModelError("DisposedError", "The model is disposed");
    if (!Object.hasOwn(this.functions, name)) throw new TypeError(`The model has no function ${name}`);
    const declared = this.functions[name];
    declared.inputs.forEach((input) => checkArray(input, inputs?.[input.name]));
    const { body, tensors } = this.#prepared(name, declared);
    declared.inputs.forEach((input, at) => this.#upload(tensors[at], inputs[input.name]));
    return named(declared, await this.#read(this.#instance.call(body, ...tensors)));
  }

  /** Releases the model. Calls under way end, and others are errors. */
  dispose() {
    this.#disposed = true;
    this.#called.clear();
    this.#instance = this.#machine = undefined;
  }

  static {
    if (Symbol.dispose) this.prototype[Symbol.dispose] = this.prototype.dispose;
  }

  /** Returns a function and tensors for its inputs, which all calls use: a call has read them when it ends. */
  #prepared(name, { inputs }) {
    let found = this.#called.get(name);
    if (!found) {
      const tensors = inputs.map((input) => empty(this.#instance, this.#device, input));
      found = { body: this.#instance.lookUpIn(this.#machine, name), tensors };
      this.#called.set(name, found);
    }
    return found;
  }

  #upload(tensor, array) {
    const { data, offset } = inspect(tensor);
    this.#instance.bytes.set(bytesOf(array), data + offset);
  }

  /** Returns a result as arrays of JavaScript, and releases it. */
  async #read(value) {
    if (!(value instanceof Ref)) return value;
    try {
      if (value.type === TYPE.ARRAY) return await Promise.all(this.#elements(value).map((element) => this.#read(element)));
      if (value.type === TYPE.TENSOR) return await this.#download(value);
      throw new ModelError("TypeError", "The function returns an object that is not a tensor");
    } finally {
      value.dispose();
    }
  }

  #elements(array) {
    const length = this.#instance.global("ffi.ArraySize", array);
    return Array.from({ length }, (_, at) => this.#instance.global("ffi.ArrayGetItem", array, at));
  }

  async #download(tensor) {
    const { shape, dtype, data, offset, size } = inspect(tensor);
    const buffer = this.#instance.bytes.slice(data + offset, data + offset + size).buffer;
    return { shape, dtype, data: asArray(dtype, buffer) };
  }
}

/** Returns results by name: `output`, or `output0` and so on for those of a tuple, if the model has no names. */
function named({ outputs }, result) {
  const isTuple = Array.isArray(result);
  return Object.fromEntries((isTuple ? result : [result]).map((value, at) => [outputs?.[at]?.name ?? (isTuple ? `output${at}` : "output"), value]));
}
