// usage: node behaviour.js TVMJS WASM
//
// Errors, callbacks, memory and panics of a module without a model, under TVM's JavaScript runtime.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");

const [, , runtime, wasm] = process.argv;
const tvmjs = require(path.resolve(runtime));
const module_ = new WebAssembly.Module(fs.readFileSync(wasm));
const start = () => new tvmjs.Instance(module_, {});
const tvm = start();
const memory = (instance = tvm) => instance.lib.memory.memory.buffer.byteLength;

function throwsWith(body, text) {
  assert.throws(body, (error) => {
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}

const TESTS = {
  "errors have kind and message"() {
    throwsWith(() => tvm.getGlobalFunc("tvmjs.testing.add_one")("x"), "TypeError: Mismatched type on argument #0");
    throwsWith(() => tvm.getGlobalFunc("ffi.Shape")("x"), "ValueError: Expect shape");
  },
  "an error that a callback throws 30,000 times leaves nothing behind"() {
    const call = tvm.getGlobalFunc("tvmjs.testing.call");
    const sour = tvm.toPackedFunc(() => { throw Error("sour"); });
    throwsWith(() => call(sour), "JSCallbackError: sour");
    // tvmjs 0.27 loses the arguments of each call that fails.
    if (runtime.includes("0.27")) return;
    const before = memory();
    for (let count = 0; count < 30000; ++count) assert.throws(() => call(sour));
    assert.strictEqual(memory(), before);
  },
  "callbacks take any number of arguments"() {
    const call = tvm.getGlobalFunc("tvmjs.testing.call");
    const sum = tvm.toPackedFunc((...all) => all.reduce((one, other) => one + other, 0));
    for (const count of [1, 8, 9, 300]) {
      const numbers = Array.from({ length: count }, (_, at) => at);
      assert.strictEqual(call(sum, ...numbers), (count * (count - 1)) / 2);
    }
    const join = tvm.toPackedFunc((...all) => all.join(""));
    assert.strictEqual(call(join, ..."a longer string than eight".split("")), "a longer string than eight");
  },
  "callbacks call callbacks"() {
    const call = tvm.getGlobalFunc("tvmjs.testing.call");
    const descend = (depth) => (depth === 0 ? 1 : 1 + call(tvm.toPackedFunc(descend), depth - 1));
    assert.strictEqual(descend(60), 61);
  },
  "endless recursion is an error"() {
    // tvmjs loses objects where JavaScript's stack ends.
    const other = start();
    other.beginScope();
    const call = other.getGlobalFunc("tvmjs.testing.call");
    const endless = other.toPackedFunc(() => call(endless));
    assert.throws(() => call(endless));
  },
  "a callback does not change its caller's arguments"() {
    const { exports, memory: bytes } = tvm.lib;
    const seen = [];
    const keep = tvm.toPackedFunc((text) => { seen.push(text); });
    const block = exports.TVMWasmAllocSpace(64);
    bytes.storeRawBytes(block + 48, new Uint8Array([...Buffer.from("a text"), 0]));
    const cell = new Uint8Array(16);
    // A raw string: a type index, and an address.
    new Uint32Array(cell.buffer).set([8, 0, block + 48, 0]);
    bytes.storeRawBytes(block, cell);
    for (let count = 0; count < 2; ++count) {
      assert.strictEqual(exports.TVMFFIFunctionCall(keep._tvmPackedCell.getHandle(), block, 1, block + 16), 0);
      assert.deepStrictEqual(Array.from(bytes.loadRawBytes(block, 16)), Array.from(cell));
    }
    assert.deepStrictEqual(seen, ["a text", "a text"]);
    exports.TVMWasmFreeSpace(block);
  },
  "memory that is refused is an error"() {
    const other = start();
    other.withNewScope(() => {
      other.getGlobalFunc("ferrite.web.set_memory_limit")(other.scalar(64 << 20, "int"));
      assert.strictEqual(other.empty([32 << 20], "int8").shape[0], 32 << 20);
      throwsWith(() => other.empty([64 << 20], "int8"), "MemoryError");
      assert.strictEqual(other.lib.exports.TVMWasmAllocSpace(0x7ffffff0), 0);
      assert.strictEqual(other.empty([3]).copyFrom([1, 2, 3]).toArray()[2], 3);
    });
  },
  "damaged modules are errors"() {
    const modules = { webgpu: "../device/webgpu/module.bin", "relax.VMExecutable": "../relax/models/mlp/bytecode.vm" };
    for (const [kind, file] of Object.entries(modules)) {
      const whole = new Uint8Array(fs.readFileSync(path.join(__dirname, file)));
      const load = tvm.getGlobalFunc(`ffi.Module.load_from_bytes.${kind}`);
      load(whole);
      for (let at = 0; at < whole.length; at += 7) {
        throwsWith(() => load(whole.slice(0, at)), "Error: ");
        const changed = whole.slice();
        changed[at] ^= 0xff;
        // A changed kernel or weight is a module, too.
        tvm.withNewScope(() => { try { load(changed); } catch (error) { assert.match(error.message, /^[A-Z]\w+Error: /); } });
      }
      load(whole);
    }
  },
  "instances share nothing"() {
    const other = start();
    other.withNewScope(() => {
      other.registerFunc("behaviour.answer", () => 42);
      assert.strictEqual(other.getGlobalFunc("behaviour.answer")(), 42);
    });
    throwsWith(() => tvm.getGlobalFunc("behaviour.answer"), "behaviour.answer");
    other.dispose();
  },
  "a panic is logged, and ends the instance"() {
    const other = start();
    const lines = [];
    other.beginScope();
    other.registerFunc("ferrite.web.log", (line) => { lines.push(line); });
    assert.throws(() => other.getGlobalFunc("testing.panic")(), WebAssembly.RuntimeError);
    assert.ok(lines.length === 1 && lines[0].includes("a planted panic"), lines.join());
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  try {
    tvm.withNewScope(test);
  } catch (error) {
    console.log(`FAILED  ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}
console.log(`behaviour: ${Object.keys(TESTS).length} tests`);
