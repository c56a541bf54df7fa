// usage: node webgpu.js TVMJS MODULES
//
// Modules with kernels for WebGPU, under TVM's JavaScript runtime on a device in main memory.
// MODULES has webgpu.wasm and fixtures.wasm.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { FakeDevice } = require("./fake_gpu.js");
const { startMachine } = require("./support.js");
const { COUNT, webgpuCases } = require("./webgpu_cases.js");

const [, , runtime, modules] = process.argv;
const tvmjs = require(path.resolve(runtime));
const [webgpu, fixtures] = ["webgpu.wasm", "fixtures.wasm"].map((name) => new WebAssembly.Module(fs.readFileSync(path.join(modules, name))));

const floats = (bytes) => new Float32Array(bytes.buffer, 0, COUNT);
const KERNELS = {
  add_one_kernel: (x, y) => { floats(x).forEach((value, at) => { floats(y)[at] = value + 1; }); },
  constant_add_kernel: (constant, sum, x) => { floats(x).forEach((value, at) => { floats(sum)[at] = value + floats(constant)[at]; }); },
};

function start() {
  const tvm = new tvmjs.Instance(webgpu, {});
  return { tvm, device: new FakeDevice(KERNELS) };
}

/** An instance that counts its calls into JavaScript. */
class CountedInstance extends WebAssembly.Instance {
  static calls = 0;
  constructor(module_, imports) {
    const counted = (value) => (typeof value !== "function" ? value : (...args) => {
      CountedInstance.calls += 1;
      return value(...args);
    });
    const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
    super(module_, mapped(imports, (functions) => mapped(functions, counted)));
  }
}

function startCounted() {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = CountedInstance;
  try {
    return new tvmjs.Instance(fixtures, {});
  } finally {
    WebAssembly.Instance = Instance;
  }
}

const CASES = {
  ...webgpuCases(assert, start, startMachine),
  "a launch by the machine is one call into JavaScript"() {
    const tvm = startCounted();
    const idle = new Proxy({}, { get: () => () => {} });
    const device = new FakeDevice(idle);
    tvm.initWebGPU(device);
    tvm.beginScope();
    const forward = startMachine(tvm, "transformer_", 15).getFunction("forward");
    const args = [tvm.empty([1, 8], "int32", tvm.webgpu()), tvm.empty([1, 1, 8, 8], "float32", tvm.webgpu())];
    // The first call allocates buffers, and makes pipelines.
    forward(...args).dispose();
    const before = [device.launches, CountedInstance.calls];
    forward(...args).dispose();
    const [launches, calls] = [device.launches - before[0], CountedInstance.calls - before[1]];
    assert.ok(launches > 40, `${launches} launches`);
    assert.strictEqual(calls, launches);
    tvm.endScope();
  },
};

(async () => {
  for (const [name, test] of Object.entries(CASES)) {
    try {
      await test();
    } catch (error) {
      console.log(`FAILED  ${name}: ${error.stack}`);
      process.exitCode = 1;
    }
  }
  console.log(`webgpu: ${Object.keys(CASES).length} tests`);
})();
