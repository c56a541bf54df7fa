// usage: node memory.js TVMJS WASM
//
// Growth of memory under TVM's JavaScript runtime. WASM has the models of ../relax.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { startMachine } = require("./support.js");

const [, , runtime, wasm] = process.argv;
const tvmjs = require(path.resolve(runtime));
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));
const MIB = 1 << 20;

const size = (tvm) => tvm.lib.memory.memory.buffer.byteLength;

/** Allocates a tensor, and writes to its ends. */
function allocate(tvm, bytes) {
  const tensor = tvm.empty([bytes], "int8");
  const array = new Uint8Array(tvm.lib.memory.memory.buffer, tensor.getDataPtr(), bytes);
  array[0] = array[bytes - 1] = 7;
  return tensor;
}

/** Makes an instance for a body, which returns the bytes that lived at once and the largest block. */
function withinBounds(body) {
  const tvm = new tvmjs.Instance(module_, {});
  tvm.beginScope();
  const start = size(tvm);
  const [live, largest] = body(tvm);
  const bound = start + 1.25 * live + largest;
  assert.ok(size(tvm) <= bound, `${size(tvm)} bytes, at most ${bound} expected`);
  tvm.dispose();
}

/** Repeats a body in scopes. After a tenth more calls, which warm up, the memory must not grow. */
function staysWithin(tvm, count, body) {
  for (let round = 0; round < count / 10; ++round) tvm.withNewScope(body);
  const before = size(tvm);
  for (let round = 0; round < count; ++round) tvm.withNewScope(body);
  assert.strictEqual(size(tvm), before);
}

function inTurns(next) {
  withinBounds((tvm) => {
    const tensors = [];
    let live = 0;
    for (let turn = 0; turn < 600; ++turn) {
      const bytes = MIB << (turn % 6);
      while (live + bytes > 64 * MIB) {
        const released = next(tensors);
        live -= released.shape[0];
        released.dispose();
      }
      tensors.push(allocate(tvm, bytes));
      live += bytes;
    }
    return [64 * MIB, 32 * MIB];
  });
}

/** Makes an instance for a body, with a function that makes a machine and returns its model, and an input. */
function withModel(body) {
  const tvm = new tvmjs.Instance(module_, {});
  tvm.beginScope();
  body(tvm, () => startMachine(tvm, "fixture_mlp_", 1).getFunction("forward"), tvm.empty([1, 64], "float32"));
  tvm.dispose();
}

const TESTS = {
  "large tensors, one after another"() {
    withinBounds((tvm) => {
      for (const mib of [64, 96, 160, 128, 64]) allocate(tvm, mib * MIB).dispose();
      return [160 * MIB, 160 * MIB];
    });
  },
  "blocks of 1 to 32 MiB in turns, 64 MiB at once, the oldest released first": () => inTurns((tensors) => tensors.shift()),
  "the same, the newest released first": () => inTurns((tensors) => tensors.pop()),
  "10,000 calls of a model"() {
    withModel((tvm, start, x) => {
      const forward = start();
      staysWithin(tvm, 10000, () => { forward(x); });
    });
  },
  "300 machines"() {
    withModel((tvm, start, x) => staysWithin(tvm, 300, () => { start()(x); }));
  },
  "3,000 scopes with strings and a tensor"() {
    withModel((tvm) => {
      const echo = tvm.getGlobalFunc("testing.echo");
      staysWithin(tvm, 3000, () => {
        for (let at = 0; at < 10; ++at) echo(`a string that is allocated, ${at}`);
        tvm.empty([100, 100]).copyFrom(new Float32Array(10000));
      });
    });
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  try {
    test();
  } catch (error) {
    console.log(`FAILED  ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}
console.log(`memory: ${Object.keys(TESTS).length} tests`);
