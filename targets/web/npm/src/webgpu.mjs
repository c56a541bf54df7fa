// A WebGPU device of an instance: buffers by number, copies, and launches.
//
// A page cannot wait in the middle of a call. So commands are collected and submitted when the call ends, and bytes of
// read backs arrive later.
import { DeviceLostError, ModelError, NoWebGPUError, OutOfMemoryError } from "./errors.mjs";
import { Pipelines } from "./pipelines.mjs";

const FEATURES = ["shader-f16", "subgroups", "timestamp-query"];
const LIMITS = /^max(Buffer|Compute|Storage)/;

/** Requests the page's fastest device, with all that its adapter allows. */
export async function requestDevice() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new NoWebGPUError("This page has no WebGPU, which the model needs");
  const requiredLimits = {};
  // The limits are getters of the prototype, which `Object.keys` leaves out.
  for (const name in adapter.limits) if (LIMITS.test(name)) requiredLimits[name] = adapter.limits[name];
  return adapter.requestDevice({ requiredFeatures: FEATURES.filter((feature) => adapter.features.has(feature)), requiredLimits });
}

/** Copies and buffers have sizes in words. */
const words = (bytes) => Math.max(4, Math.ceil(bytes / 4) * 4);

export class Gpu {
  #instance;
  #buffers = [undefined];
  #free = [];
  /** Buffers that submitted commands may use until the next `flush`. */
  #freed = [];
  #encoder;
  #pass;
  /** Time stamps of launches, while they are measured. */
  timeStamps;
  /** Copies to main memory that the model has begun. */
  #copies = new Set();
  /** Functions that reject the calls under way. */
  #underWay = new Set();

  constructor(instance, device) {
    this.#instance = instance;
    this.device = device;
    this.pipelines = new Pipelines(instance, this);
    device.lost.then(({ message }) => this.#lose(new DeviceLostError(`The GPU was lost: ${message}`)));
    this.#register();
  }

  /** Runs an asynchronous function, and returns its result when the commands in it are complete. */
  complete(call) {
    if (this.lost) return Promise.reject(this.lost);
    return new Promise((resolve, reject) => {
      this.#underWay.add(reject);
      this.#guarded(call).finally(() => this.#underWay.delete(reject)).then(resolve, reject);
    });
  }

  allocate(bytes) {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.device.limits;
    if (bytes > maxBufferSize || bytes > maxStorageBufferBindingSize) throw new OutOfMemoryError(`The GPU has no buffers for ${bytes} bytes`);
    const number = this.#free.pop() ?? this.#buffers.length;
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    this.#buffers[number] = this.device.createBuffer({ size: words(bytes), usage: STORAGE | COPY_SRC | COPY_DST });
    return number;
  }

  buffer(number) {
    return this.#buffers[number];
  }

  upload(number, offset, bytes) {
    this.flush();
    let data = bytes;
    if (bytes.length % 4) {
      data = new Uint8Array(words(bytes.length));
      data.set(bytes);
    }
    this.device.queue.writeBuffer(this.#buffers[number], offset, data);
  }

  /** Returns bytes of a buffer, as they are after all commands so far. */
  async read(buffer, offset, bytes) {
    const size = words(bytes);
    const target = this.device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    this.encoder().copyBufferToBuffer(buffer, offset, target, 0, size);
    this.flush();
    try {
      await target.mapAsync(GPUMapMode.READ);
      return target.getMappedRange().slice(0, bytes);
    } finally {
      target.destroy();
    }
  }

  /** Waits for the copies to main memory that the model has begun. */
  copied() {
    return Promise.all(this.#copies);
  }

  encoder() {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.device.createCommandEncoder();
    return this.#encoder;
  }

  /** Returns the pass of a kernel's launch, that of all launches since the last copy unless they have time stamps. */
  pass(name) {
    if (this.timeStamps) this.#pass = this.timeStamps.begin(this.encoder(), name);
    this.#pass ??= this.encoder().beginComputePass();
    return this.#pass;
  }

  /** Submits the commands. */
  flush() {
    if (this.#encoder) {
      this.pipelines.writeScalars();
      this.device.queue.submit([this.encoder().finish()]);
      this.#encoder = undefined;
    }
    this.#freed.splice(0).forEach((buffer) => buffer.destroy());
  }

  dispose() {
    this.#lose(new ModelError("DisposedError", "The model is disposed"));
    this.device.destroy();
  }

  /** Runs a call in scopes of errors, which WebGPU reports later. */
  async #guarded(call) {
    const { device } = this;
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    const result = call();
    this.flush();
    // All are awaited, so that no error is left unhandled.
    const [outcome, invalid, exhausted] = await Promise.allSettled([result, device.popErrorScope(), device.popErrorScope()]);
    if (exhausted.value) throw new OutOfMemoryError(exhausted.value.message);
    if (invalid.value) throw new ModelError("GPUError", invalid.value.message);
    if (outcome.reason) throw outcome.reason;
    return outcome.value;
  }

  #lose(error) {
    this.lost ??= error;
    this.#underWay.forEach((reject) => reject(this.lost));
  }

  /** Registers the functions by which the library uses the device. */
  #register() {
    const instance = this.#instance;
    const operations = {
      deviceAllocDataSpace: (bytes) => this.allocate(bytes),
      deviceFreeDataSpace: (number) => {
        this.#freed.push(this.#buffers[number]);
        this.#free.push(number);
      },
      deviceCopyToGPU: (address, number, offset, bytes) => this.upload(number, offset, instance.bytes(address, bytes)),
      deviceCopyFromGPU: (number, offset, address, bytes) => this.#copyToMemory(number, offset, address, bytes),
      deviceCopyWithinGPU: (from, fromOffset, to, toOffset, bytes) => {
        this.encoder().copyBufferToBuffer(this.#buffers[from], fromOffset, this.#buffers[to], toOffset, words(bytes));
      },
    };
    instance.register("wasm.WebGPUDeviceAPI", (args) => instance.numeric(operations[instance.string(args, 0)]));
    instance.register("wasm.WebGPUCreateShader", (args) => this.pipelines.create(JSON.parse(instance.string(args, 0)), instance.string(args, 1)));
    // The argument owns the targets of copies.
    instance.register("__async.wasm.WebGPUWaitForTasks", (args) => {
      const owner = instance.object(args, 0);
      this.copied().catch(() => {}).then(() => owner.dispose());
    });
  }

  #copyToMemory(number, offset, address, bytes) {
    const copy = this.read(this.#buffers[number], offset, bytes).then((data) => this.#instance.bytes(address, bytes).set(new Uint8Array(data)));
    this.#copies.add(copy);
    copy.catch(() => {}).then(() => this.#copies.delete(copy));
  }
}
