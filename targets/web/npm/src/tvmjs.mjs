// Models under TVM's own JavaScript runtime, `@mlc-ai/web-runtime`.
import { NoWebGPUError } from "./errors.mjs";
import { compile, describe } from "./source.mjs";
import { asArray, bytesOf, checkArray, named } from "./tensor.mjs";

/**
 * Starts TVM's runtime on a model. `tvmjs` is the module `@mlc-ai/web-runtime`; `gpu` is the GPUDevice of a model for
 * WebGPU, by default the page's fastest.
 */
export async function load(tvmjs, source, { gpu, signal } = {}) {
  const module = await compile(source, signal);
  const description = describe(module);
  const tvm = new tvmjs.Instance(module, {});
  if (description.device === "webgpu") tvm.initWebGPU(gpu ?? (await findGpu(tvmjs)));
  const device = tvm[description.device]();
  const machine = tvm.withNewScope(() => tvm.detachFromCurrentScope(tvm.createVirtualMachine(device)));
  if (description.device === "webgpu") await tvm.asyncLoadWebGPUPipelines(machine.getInternalModule());
  return new TvmModel(tvmjs, tvm, machine, description);
}

async function findGpu(tvmjs) {
  const found = await tvmjs.detectGPUDevice();
  if (!found) throw new NoWebGPUError("This page has no WebGPU, which the model needs");
  return found.device;
}

class TvmModel {
  #tvmjs;
  #machine;
  #description;

  constructor(tvmjs, tvm, machine, description) {
    this.#tvmjs = tvmjs;
    /** Instance of TVM's runtime, for all that this class does not offer. */
    this.tvm = tvm;
    this.#machine = machine;
    this.#description = description;
  }

  get device() {
    return this.#description.device;
  }

  get functions() {
    return this.#description.functions;
  }

  /** Calls a function with arrays by the names of its inputs. Returns tensors by the names of its outputs. */
  async run(inputs, name = this.#description.entry) {
    const { functions } = this;
    if (!Object.hasOwn(functions, name)) throw new TypeError(`The model has no function ${name}`);
    const declared = functions[name];
    declared.inputs.forEach((input) => checkArray(input, inputs?.[input.name]));
    const result = this.tvm.withNewScope(() => {
      const tensors = declared.inputs.map((input) => this.#upload(input, inputs[input.name]));
      return this.#download(this.#machine.getFunction(name)(...tensors));
    });
    await this.#device.sync();
    return named(declared, read(result));
  }

  dispose() {
    this.#machine.dispose();
    this.tvm.dispose();
  }

  /** For `using`. Browsers without it call the method `undefined`. */
  [Symbol.dispose]() {
    this.dispose();
  }

  get #device() {
    return this.tvm[this.device]();
  }

  #upload({ shape, dtype }, array) {
    const tensor = this.tvm.empty(shape, dtype, this.tvm.cpu()).copyFromRawBytes(bytesOf(array));
    return this.device === "cpu" ? tensor : this.tvm.empty(shape, dtype, this.#device).copyFrom(tensor);
  }

  /** Queues copies of results, which are complete after `sync`. */
  #download(result) {
    if (result instanceof this.#tvmjs.TVMArray) return Array.from({ length: result.size() }, (_, at) => this.#download(result.get(at)));
    if (!(result instanceof this.#tvmjs.Tensor)) return result;
    const copy = this.device === "cpu" ? result : this.tvm.empty(result.shape, result.dtype, this.tvm.cpu()).copyFrom(result);
    return this.tvm.detachFromCurrentScope(copy);
  }
}

/** Returns results as arrays of JavaScript, and releases their tensors. */
function read(result) {
  if (Array.isArray(result)) return result.map(read);
  if (typeof result?.toRawBytes !== "function") return result;
  const { shape, dtype } = result;
  const bytes = result.toRawBytes();
  result.dispose();
  return { shape, dtype, data: asArray(dtype, bytes.slice().buffer) };
}
