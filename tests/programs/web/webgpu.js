// usage: node webgpu.js TVMJS WASM
//
// A module with a kernel for WebGPU, under TVM's JavaScript runtime on a device in main memory.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { FakeDevice } = require("./fake_gpu.js");

const [, , runtime, wasm] = process.argv;
const tvmjs = require(path.resolve(runtime));
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));
const COUNT = 5000;

const floats = (bytes) => new Float32Array(bytes.buffer, 0, COUNT);
const KERNELS = {
  add_one_kernel: (x, y) => { floats(x).forEach((value, at) => { floats(y)[at] = value + 1; }); },
  constant_add_kernel: (constant, sum, x) => { floats(x).forEach((value, at) => { floats(sum)[at] = value + floats(constant)[at]; }); },
};

function start() {
  const tvm = new tvmjs.Instance(module_, {});
  return { tvm, device: new FakeDevice(KERNELS) };
}

const numbers = (first) => Float32Array.from({ length: COUNT }, (_, at) => first + at);

/** Uploads, launches, and queues a read back. */
function run(tvm, first) {
  const x = tvm.empty([COUNT], "float32", tvm.webgpu()).copyFrom(numbers(first));
  const y = tvm.empty([COUNT], "float32", tvm.webgpu());
  tvm.systemLib().getFunction("add_one")(x, y);
  return tvm.empty([COUNT], "float32", tvm.cpu()).copyFrom(y);
}

const TESTS = {
  async "a page without a device gets an error"() {
    const { tvm } = start();
    tvm.withNewScope(() => {
      assert.throws(() => tvm.empty([4], "float32", tvm.webgpu()), /RuntimeError: The page has no WebGPU device/);
      assert.strictEqual(tvm.empty([3]).copyFrom([1, 2, 3]).toArray()[2], 3);
    });
  },
  async "kernels run, and results arrive with sync"() {
    const { tvm, device } = start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    const result = run(tvm, 7);
    assert.strictEqual(result.toArray()[COUNT - 1], 0);
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(8));
    assert.strictEqual(device.launches, 1);
    tvm.endScope();
  },
  async "pipelines are made ahead"() {
    const { tvm, device } = start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    await tvm.asyncLoadWebGPUPipelines(tvm.systemLib());
    const result = run(tvm, 1);
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(2));
    tvm.endScope();
  },
  async "a model uploads its constants without waiting"() {
    const { tvm, device } = start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    const machine = tvm.getGlobalFunc("ffi.SystemLib")("constant_").getFunction("vm_load_executable")();
    machine.getFunction("vm_initialization")(...[15, 0, 2, 1, 0, 2].map((number) => tvm.scalar(number, "int")));
    const x = tvm.empty([COUNT], "float32", tvm.webgpu()).copyFrom(new Float32Array(COUNT).fill(3));
    const result = tvm.empty([COUNT], "float32").copyFrom(machine.getFunction("main")(x));
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(3));
    tvm.endScope();
  },
  async "targets that are released before sync are not overwritten too early"() {
    const { tvm, device } = start();
    tvm.initWebGPU(device);
    for (let round = 0; round < 1000; ++round) {
      tvm.withNewScope(() => { run(tvm, round); });
      tvm.beginScope();
      // They would take the memory of a target that was released.
      const others = [1, 2, 3].map((value) => tvm.empty([COUNT], "float32").copyFrom(new Float32Array(COUNT).fill(value)));
      await tvm.webgpu().sync();
      others.forEach((other, at) => { assert.ok(other.toArray().every((value) => value === at + 1)); });
      tvm.endScope();
      if (round === 10) tvm.before = tvm.lib.memory.memory.buffer.byteLength;
    }
    assert.strictEqual(tvm.lib.memory.memory.buffer.byteLength, tvm.before);
  },
};

(async () => {
  for (const [name, test] of Object.entries(TESTS)) {
    try {
      await test();
    } catch (error) {
      console.log(`FAILED  ${name}: ${error.stack}`);
      process.exitCode = 1;
    }
  }
  console.log(`webgpu: ${Object.keys(TESTS).length} tests`);
})();
