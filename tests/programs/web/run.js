// Runs the cases of this folder on WebGPU, in a page or in a worker.
"use strict";

const text = (value) => (ArrayBuffer.isView(value) ? value.join() : String(value));
const assert = {
  ok(value, message = "not true") { if (!value) throw new Error(message); },
  strictEqual(value, expected) { assert.ok(Object.is(value, expected), `${text(value)} is not ${text(expected)}`); },
  deepStrictEqual(value, expected) { assert.strictEqual(text(value), text(expected)); },
  throws(body, pattern) {
    let message = "nothing was thrown";
    try { body(); } catch (error) { message = error.message; }
    assert.ok(pattern.test(message), message);
  },
};

const read = async (name) => parseArray(new Uint8Array(await (await fetch(name)).arrayBuffer()));

/** Returns a function that makes an instance of a module, and a device. */
async function starter(name) {
  const module_ = await WebAssembly.compileStreaming(fetch(name));
  return async () => {
    const { adapterInfo, device } = await tvmjs.detectGPUDevice();
    assert.ok(/swiftshader/i.test(`${adapterInfo.architecture} ${adapterInfo.vendor}`), JSON.stringify(adapterInfo));
    return { tvm: new tvmjs.Instance(module_, {}), device };
  };
}

async function run() {
  const cases = {
    ...webgpuCases(assert, await starter("webgpu.wasm"), startMachine),
    ...fixtureCases(assert, await starter("fixtures.wasm"), read),
    ...limitCases(assert, await starter("webgpu.wasm")),
  };
  const failures = [];
  for (const [name, test] of Object.entries(cases)) {
    try { await test(); } catch (error) { failures.push(`${name}: ${error.stack}`); }
  }
  return { count: Object.keys(cases).length, failures };
}

if (typeof importScripts === "function") {
  importScripts("tvmjs.js", "support.js", "webgpu_cases.js", "fixture_cases.js", "limit_cases.js");
  run().then(postMessage);
}
