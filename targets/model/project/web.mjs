// model.mjs: the model @NAME@, written by `ferrite model`. It imports nothing.

/** Functions of the model: the names, element types and shapes of their inputs. */
export const functions = @FUNCTIONS@;

const DEVICE = @DEVICE@;
const ARRAYS = @ARRAYS@;

/**
 * Loads the model into TVM's JavaScript runtime.
 *
 * Options: `wasm`, the bytes of model.wasm, by default fetched from beside this file; `gpu`, the
 * GPUDevice of a model for WebGPU, by default the page's fastest.
 */
export async function load(tvmjs, { wasm, gpu } = {}) {
  const tvm = await tvmjs.instantiate(wasm ?? (await download()), {});
  if (DEVICE === "webgpu") tvm.initWebGPU(gpu ?? (await findGpu(tvmjs)));
  const device = tvm[DEVICE]();
  const machine = tvm.withNewScope(() => tvm.detachFromCurrentScope(tvm.createVirtualMachine(device)));
  if (DEVICE === "webgpu") await tvm.asyncLoadWebGPUPipelines(machine.getInternalModule());
  return new Model(tvmjs, tvm, device, machine);
}

async function download() {
  const response = await fetch(new URL("model.wasm", import.meta.url));
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

async function findGpu(tvmjs) {
  const found = await tvmjs.detectGPUDevice();
  if (!found) throw new Error("This page has no WebGPU, which the model needs");
  return found.device;
}

class Model {
  #tvmjs;
  #tvm;
  #device;
  #machine;

  constructor(tvmjs, tvm, device, machine) {
    this.#tvmjs = tvmjs;
    this.#tvm = tvm;
    this.#device = device;
    this.#machine = machine;
  }

  /** Calls a function with arrays by the names of its inputs. */
  async run(inputs, name = @ENTRY@) {
    const declared = Object.hasOwn(functions, name) && functions[name];
    if (!declared) throw new TypeError(`The model has no function ${name}`);
    declared.forEach((input) => checkArray(input, inputs[input.name]));
    const results = this.#tvm.withNewScope(() => {
      const tensors = declared.map((input) => this.#upload(input, inputs[input.name]));
      return this.#download(this.#machine.getFunction(name)(...tensors));
    });
    await this.#device.sync();
    return read(results);
  }

  /** Releases the memory of the model. */
  dispose() {
    this.#machine.dispose();
    this.#tvm.dispose();
  }

  #upload({ shape, dtype }, array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const tensor = this.#tvm.empty(shape, dtype, this.#tvm.cpu()).copyFromRawBytes(bytes);
    return DEVICE === "cpu" ? tensor : this.#tvm.empty(shape, dtype, this.#device).copyFrom(tensor);
  }

  /** Queues copies of results, which are complete after `sync`. */
  #download(result) {
    if (result instanceof this.#tvmjs.TVMArray) {
      return Array.from({ length: result.size() }, (_, at) => this.#download(result.get(at)));
    }
    if (!(result instanceof this.#tvmjs.Tensor)) return result;
    const copy = DEVICE === "cpu" ? result : this.#tvm.empty(result.shape, result.dtype, this.#tvm.cpu()).copyFrom(result);
    return this.#tvm.detachFromCurrentScope(copy);
  }
}

function checkArray({ name, dtype, shape }, array) {
  const expected = ARRAYS[dtype];
  if (Object.prototype.toString.call(array) !== `[object ${expected}]`) throw new TypeError(`The input ${name} is not a ${expected}`);
  const length = shape.reduce((product, extent) => product * extent, 1);
  if (array.length !== length) throw new RangeError(`The input ${name} has ${array.length} elements, not ${length}`);
}

/** Returns results as arrays of JavaScript, and releases their tensors. */
function read(result) {
  if (Array.isArray(result)) return result.map(read);
  if (typeof result?.toRawBytes !== "function") return result;
  const { shape, dtype } = result;
  const bytes = result.toRawBytes();
  result.dispose();
  return { shape, dtype, data: new globalThis[ARRAYS[dtype] ?? "Uint8Array"](bytes.slice().buffer) };
}
