// The package in Node, with FOLDER/model.wasm of package.py.
import assert from "node:assert";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.env.FOLDER}/`);
const { Model, ModelError, NoWebGPUError, OutOfMemoryError } = await import(new URL("ferrite/index.mjs", folder));
const { Model: WorkerModel } = await import(new URL("ferrite/worker.mjs", folder));
const { Pipelines } = await import(new URL("ferrite/pipelines.mjs", folder));
const url = new URL("model.wasm", folder);
const bytes = await readFile(url);
const response = (type, status = 200) => new Response(bytes, { status, headers: { "content-type": type } });
const inputs = { one: Float32Array.of(1, 2, 3, 4), other: Float32Array.of(10, 20, 30, 40) };
const sums = Float32Array.of(11, 22, 33, 44);
// Without the custom section, which is the last.
const undescribed = bytes.subarray(0, bytes.lastIndexOf("ferrite.model") - 4);

/** Loads the model, and returns it with the exports of its instance, which a test may replace. */
async function loadWithExports() {
  const { instantiate } = WebAssembly;
  let exports;
  WebAssembly.instantiate = async (...args) => {
    const instance = await instantiate(...args);
    exports = { ...instance.exports };
    return { exports };
  };
  try {
    return { model: await Model.load(url), exports };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

test("models come from addresses, responses, bytes and modules", async () => {
  const sources = [url, url.href, bytes, new Uint8Array(bytes).buffer, await WebAssembly.compile(bytes), response("application/wasm"), Promise.resolve(response("text/html"))];
  for (const source of [...sources, { cpu: url }, { cpu: bytes, webgpu: bytes }]) {
    const model = await Model.load(source, { device: "cpu" });
    const { output0, output1 } = await model.run(inputs);
    assert.deepStrictEqual(output0, { shape: [4], dtype: "float32", data: sums });
    assert.deepStrictEqual(output1.data, inputs.one);
    model.dispose();
  }
});

test("the device is the model's, and the page's choice is checked", async () => {
  assert.strictEqual((await Model.load(url)).device, "cpu");
  await assert.rejects(Model.load({ cpu: url }, { device: "webgpu" }), { name: "TypeError", message: "The source has no model for the device webgpu" });
  await assert.rejects(Model.load(url, { device: "webgpu" }), NoWebGPUError);
  assert.strictEqual((await Model.load({ webgpu: url, cpu: url })).device, "cpu");
});

test("damaged and missing modules are errors with a kind", async () => {
  const fails = async (source, kind) => assert.rejects(Model.load(source), (error) => error instanceof ModelError && error.kind === kind);
  await fails(bytes.subarray(0, bytes.length / 2), "CompileError");
  await fails(new Uint8Array(), "CompileError");
  await fails(new TextEncoder().encode("<!doctype html>"), "CompileError");
  await fails(undescribed, "ModelError");
  await fails(response("application/wasm", 404), "NetworkError");
  await assert.rejects(Model.load(new URL("absent.wasm", folder)), { code: "ENOENT" });
  await assert.rejects(Model.load(url, { signal: AbortSignal.abort() }), { name: "AbortError" });
  await assert.rejects(WorkerModel.load(url), { kind: "WorkerError", message: "There are no workers here" });
});

test("wrong arrays and names are errors, and the model goes on", async () => {
  const model = await Model.load(url);
  for (const wrong of [undefined, {}, { ...inputs, one: [1, 2, 3, 4] }]) await assert.rejects(model.run(wrong), { name: "TypeError" });
  await assert.rejects(model.run({ ...inputs, other: new Float32Array(5) }), { name: "RangeError", message: "The input other has 5 elements, not 4" });
  await assert.rejects(model.run(inputs, "toString"), { name: "TypeError", message: "The model has no function toString" });
  assert.deepStrictEqual((await model.run(inputs)).output0.data, sums);
});

test("memory that is refused is an error, and the model goes on", async () => {
  const model = await Model.load(url, { memoryLimit: 32 << 20 });
  for (let count = 0; count < 3; ++count) await assert.rejects(model.run({ x: Float32Array.of(7) }, "large"), (error) => error instanceof OutOfMemoryError && error.kind === "MemoryError");
  assert.deepStrictEqual((await model.run(inputs)).output0.data, sums);
  const unlimited = await Model.load(url);
  const { output } = await unlimited.run({ x: Float32Array.of(7) }, "large");
  assert.ok(output.data.length === 16 << 20 && output.data.every((value) => value === 7));
});

test("calls do not grow the memory", async () => {
  const { model, exports: { memory } } = await loadWithExports();
  for (let count = 0; count < 10; ++count) await model.run(inputs);
  const before = memory.buffer.byteLength;
  for (let count = 0; count < 10000; ++count) await model.run(inputs);
  await Promise.all(Array.from({ length: 1000 }, () => model.run(inputs)));
  for (let count = 0; count < 20; ++count) await model.profile(inputs, "main", 1);
  assert.strictEqual(memory.buffer.byteLength, before);
});

test("profiles have the operators", async () => {
  const model = await Model.load(url);
  const operators = await model.profile(inputs, "main", 5);
  const { calls, milliseconds } = operators.find(({ name }) => name.startsWith("add"));
  assert.ok(calls === 1 && milliseconds >= 0 && milliseconds < 1000);
  assert.deepStrictEqual((await model.run(inputs)).output0.data, sums);
});

test("a disposed model refuses calls", async () => {
  const model = await Model.load(url);
  const other = await Model.load(url);
  model[Symbol.dispose]();
  model.dispose();
  await assert.rejects(model.run(inputs), { kind: "DisposedError" });
  assert.deepStrictEqual((await other.run(inputs)).output0.data, sums);
});

test("a trap ends the model, and another is loaded", async () => {
  const { model, exports } = await loadWithExports();
  const { TVMFFIFunctionCall } = exports;
  exports.TVMFFIFunctionCall = () => { throw new WebAssembly.RuntimeError("unreachable"); };
  const failed = await model.run(inputs).catch((error) => error);
  assert.ok(failed instanceof ModelError && failed.kind === "Trap", failed);
  Object.assign(exports, { TVMFFIFunctionCall });
  await assert.rejects(model.run(inputs), (error) => error === failed);
  model.dispose();
  assert.deepStrictEqual((await (await Model.load(url)).run(inputs)).output0.data, sums);
});

test("launches pass scalars by type and continue large grids in the third dimension", () => {
  Object.assign(globalThis, { GPUBufferUsage: {}, GPUShaderStage: {} });
  const commands = [];
  const created = new Proxy({}, { get: (_, name) => (name === "features" ? new Set() : (descriptor) => descriptor) });
  const device = Object.assign(Object.create(created), { queue: { writeBuffer: (_, at, data, start, size) => commands.push(new DataView(data.slice(start, size))) } });
  const pass = { setPipeline() {}, setBindGroup: (_, { entries }) => commands.push(entries), dispatchWorkgroups: (...extents) => commands.push(extents) };
  const gpu = { device, buffer: (number) => `buffer ${number}`, pass: () => pass, flush: () => pipelines.writeScalars() };
  const pipelines = new Pipelines({ numeric: (body) => body }, gpu);
  const kernel = { name: "scale", arg_types: ["handle", "float32", "int32", "handle"], launch_param_tags: ["threadIdx.x", "blockIdx.y", "blockIdx.x", "paramWriteAccess:[0,1]"] };
  const launch = pipelines.create(kernel, "fn scale() {}");
  launch(7, 0.5, -3, 8, 64, 2, 200000);
  const [entries, extents] = commands.splice(0);
  assert.deepStrictEqual(entries.map(({ resource }) => resource.buffer).slice(0, 2), ["buffer 7", "buffer 8"]);
  assert.deepStrictEqual([entries[2].resource.offset, entries[2].resource.size, extents], [0, 12, [50000, 2, 4]]);
  launch(7, 0.25, 3, 8, 64, 1, 5);
  assert.deepStrictEqual([commands[0][2].resource.offset, commands[1]], [256, [5, 1, 1]]);
  // Those of 256 launches fill the buffer, which is written before the next.
  for (let count = 2; count < 256; ++count) launch(7, 1, 1, 8, 64, 1, 1);
  commands.length = 0;
  launch(7, 1, 1, 8, 64, 1, 1);
  const [written, last] = commands;
  assert.deepStrictEqual([written.getFloat32(0, true), written.getInt32(4, true), written.getUint32(8, true), written.getFloat32(256, true)], [0.5, -3, 200000, 0.25]);
  assert.strictEqual(last[2].resource.offset, 0);
  assert.throws(() => pipelines.create({ ...kernel, launch_param_tags: ["blockIdx.z", "paramWriteAccess:[0,1]"] }, "")(7, 1, 1, 8, 2), RangeError);
  assert.throws(() => pipelines.create(kernel, "enable f16;"), NoWebGPUError);
});
