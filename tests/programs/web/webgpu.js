// usage: node webgpu.js TVMJS WASM
//
// A module with a kernel for WebGPU, under TVM's JavaScript runtime on a device in main memory.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { FakeDevice } = require("./fake_gpu.js");
const { COUNT, webgpuCases } = require("./webgpu_cases.js");

const [, , runtime, wasm] = process.argv;
const tvmjs = require(path.resolve(runtime));
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));

const floats = (bytes) => new Float32Array(bytes.buffer, 0, COUNT);
const KERNELS = {
  add_one_kernel: (x, y) => { floats(x).forEach((value, at) => { floats(y)[at] = value + 1; }); },
  constant_add_kernel: (constant, sum, x) => { floats(x).forEach((value, at) => { floats(sum)[at] = value + floats(constant)[at]; }); },
};

function start() {
  const tvm = new tvmjs.Instance(module_, {});
  return { tvm, device: new FakeDevice(KERNELS) };
}

(async () => {
  const cases = webgpuCases(assert, start);
  for (const [name, test] of Object.entries(cases)) {
    try {
      await test();
    } catch (error) {
      console.log(`FAILED  ${name}: ${error.stack}`);
      process.exitCode = 1;
    }
  }
  console.log(`webgpu: ${Object.keys(cases).length} tests`);
})();
