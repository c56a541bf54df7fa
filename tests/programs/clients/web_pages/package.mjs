// Tests of the package in a page. The models' `main` doubles four numbers, `large` makes a tensor of 192 MiB.
import { DeviceLostError, Model, ModelError, NoWebGPUError, OutOfMemoryError } from "./ferrite/index.mjs";
import { Model as WorkerModel } from "./ferrite/worker.mjs";

const BOTH = { cpu: "cpu.wasm", webgpu: "webgpu.wasm" };
const x = Float32Array.of(1, 2, 3, 4);
const { requestDevice } = GPUAdapter.prototype;

function equal(found, expected) {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);
}

async function fails(body, kind, Class = ModelError) {
  const error = await body().then(() => new Error("nothing failed"), (reason) => reason);
  if (!(error instanceof Class) || (kind && error.kind !== kind)) throw error;
}

async function doubles(model) {
  equal(Array.from((await model.run({ x })).output.data), [2, 4, 6, 8]);
  const many = await Promise.all(Array.from({ length: 50 }, (_, at) => model.run({ x: new Float32Array(4).fill(at) })));
  equal(many.map(({ output }) => output.data[3]), many.map((_, at) => 2 * at));
  await fails(() => model.run({ x: [1, 2, 3, 4] }), undefined, TypeError);
  await fails(() => model.run({ x: new Float32Array(5) }), undefined, RangeError);
  await fails(() => model.run({ x }, "absent"), undefined, TypeError);
}

/** Runs `body` with another `requestDevice`, which gets the page's. */
async function withDevices(request, body) {
  GPUAdapter.prototype.requestDevice = function (options) { return request((changed = options) => requestDevice.call(this, changed), options); };
  try {
    await body();
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}

async function withoutWebGPU(body) {
  Object.defineProperty(navigator, "gpu", { value: undefined, configurable: true });
  try {
    await body();
  } finally {
    delete navigator.gpu;
  }
}

export const tests = {
  async "models run in the page and in a worker, on both devices"() {
    for (const Class of [Model, WorkerModel]) {
      for (const [device, source] of Object.entries(BOTH)) {
        const model = await Class.load(source);
        equal([model.device, model.functions.main.outputs], [device, [{ name: "output", dtype: "float32", shape: [4] }]]);
        await doubles(model);
        const [{ calls, milliseconds }] = await model.profile({ x }, "main", 3);
        equal([calls >= 1, milliseconds >= 0], [true, true]);
        await doubles(model);
        const underWay = device === "webgpu" || Class === WorkerModel ? fails(() => model.run({ x }), "DisposedError") : undefined;
        model.dispose();
        await underWay;
        await fails(() => model.run({ x }), "DisposedError");
      }
    }
  },
  async "the best device of the page is used"() {
    const device = async (source, options) => (await Model.load(source, options)).device;
    equal([await device(BOTH), await device(BOTH, { device: "cpu" })], ["webgpu", "cpu"]);
    await withoutWebGPU(async () => {
      equal(await device(BOTH), "cpu");
      await fails(() => Model.load(BOTH, { device: "webgpu" }), undefined, NoWebGPUError);
      await fails(() => Model.load("webgpu.wasm"), undefined, NoWebGPUError);
    });
    await fails(() => Model.load("cpu.wasm", { device: "webgpu" }), undefined, TypeError);
  },
  async "halves need a feature of the GPU"() {
    const adapter = await navigator.gpu.requestAdapter();
    if (adapter.features.has("shader-f16")) throw new Error("SwiftShader has shader-f16 now: run the model");
    await fails(() => Model.load("halves.wasm"), undefined, NoWebGPUError);
    await fails(() => WorkerModel.load("halves.wasm"), undefined, NoWebGPUError);
  },
  async "a lost device ends calls under way, and the next load works"() {
    let device;
    await withDevices(async (request) => { device = await request(); return device; }, async () => {
      const model = await Model.load("webgpu.wasm");
      await doubles(model);
      const underWay = fails(() => model.run({ x }), undefined, DeviceLostError);
      device.destroy();
      await underWay;
      await fails(() => model.run({ x }), undefined, DeviceLostError);
    });
    await doubles(await Model.load("webgpu.wasm"));
  },
  async "memory that is refused is an error, and the model goes on"() {
    const large = async (model) => {
      await fails(() => model.run({ x: Float32Array.of(1) }, "large"), "MemoryError", OutOfMemoryError);
      await doubles(model);
    };
    await large(await Model.load("cpu.wasm", { memoryLimit: 32 << 20 }));
    await large(await WorkerModel.load("cpu.wasm", { memoryLimit: 32 << 20 }));
    // By default, bindings have at most 128 MiB.
    await withDevices((request) => request({}), async () => large(await Model.load("webgpu.wasm")));
  },
  async "a launch is one call into JavaScript"() {
    const { instantiate } = WebAssembly;
    let calls = 0;
    WebAssembly.instantiate = (module, { env }) => {
      const { TVMFFIWasmSafeCall: call } = env;
      return instantiate(module, { env: { ...env, TVMFFIWasmSafeCall: (...args) => { calls += 1; return call(...args); } } });
    };
    const model = await Model.load("webgpu.wasm").finally(() => { WebAssembly.instantiate = instantiate; });
    await model.run({ x });
    calls = 0;
    for (let count = 0; count < 10; ++count) await model.run({ x });
    equal(calls, 10);
  },
  async "damaged and missing models are errors"() {
    await fails(() => Model.load("absent.wasm"), "NetworkError");
    await fails(() => WorkerModel.load("absent.wasm"), "NetworkError");
    await fails(() => Model.load("damaged.wasm"), "CompileError");
    await fails(() => Model.load("page.html"), "CompileError");
  },
  async "models come with any type, as responses and as modules"() {
    const sources = () => ["untyped.bin", new URL("cpu.wasm", location.href), fetch("cpu.wasm"), WebAssembly.compileStreaming(fetch("cpu.wasm"))];
    for (const Class of [Model, WorkerModel]) for (const source of sources()) await doubles(await Class.load(await source));
    for (const Class of [Model, WorkerModel]) await fails(() => Class.load("cpu.wasm", { signal: AbortSignal.abort() }), undefined, DOMException);
  },
  async "models run under a content security policy"() {
    const frame = document.createElement("iframe");
    const result = new Promise((resolve) => { addEventListener("message", ({ data }) => resolve(data), { once: true }); });
    frame.src = "policy.html";
    document.body.append(frame);
    equal(await result, ["2,4,6,8", "2,4,6,8"]);
  },
};
