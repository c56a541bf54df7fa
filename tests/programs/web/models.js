// usage: node models.js TVMJS WASM
//
// Runs the models of ../relax that are linked into a module, by TVM's JavaScript runtime, and
// compares their results with the recorded ones.
"use strict";
const fs = require("fs");
const path = require("path");

const [, , runtime, wasm] = process.argv;
const tvmjs = require(path.resolve(runtime));
const models = path.join(__dirname, "../relax/models");
const tvm = new tvmjs.Instance(new WebAssembly.Module(fs.readFileSync(wasm)), {});

const ARRAYS = {
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array], "<i8": ["int64", BigInt64Array],
  "<i4": ["int32", Int32Array], "|i1": ["int8", Int8Array], "|u1": ["uint8", Uint8Array], "|b1": ["bool", Uint8Array],
};

/** Reads an array in NumPy's format. */
function readArray(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const [dtype, View] = ARRAYS[header.match(/'descr': '([^']*)'/)[1]];
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((n) => n.trim()).map(Number);
  return { dtype, shape, values: new View(new Uint8Array(bytes.subarray(start)).buffer) };
}

function toTensor({ dtype, shape, values }) {
  return tvm.empty(shape, dtype, tvm.cpu()).copyFromRawBytes(new Uint8Array(values.buffer));
}

/** Converts an argument of calls.txt: `FILE`, `tuple:FILE,...` or `shape:EXTENT,...`. */
function toArgument(folder, text) {
  const read = (name) => toTensor(readArray(path.join(folder, name)));
  if (text.startsWith("tuple:")) return tvm.makeTVMArray(text.slice(6).split(",").map(read));
  if (text.startsWith("shape:")) return tvm.makeShapeTuple(text.slice(6).split(",").map(Number));
  return read(text);
}

/** Returns the tensors of a result, which may be nested tuples, as their bytes. */
function flatten(value) {
  if (value instanceof tvmjs.Tensor) return [value.toRawBytes()];
  if (value instanceof tvmjs.TVMArray) return Array.from({ length: value.size() }, (_, at) => flatten(value.get(at))).flat();
  if (value === undefined || value === null) return [];
  // The other objects are shapes, which tvmjs reads from tensors alone.
  const { shape } = tvm.getGlobalFunc("runtime.TVMTensorAllocWithScope")(value, "int8", tvm.cpu(), undefined);
  return [new Uint8Array(BigInt64Array.from(shape, BigInt).buffer)];
}

/** Returns the largest difference of two arrays. */
function difference(expected, bytes) {
  const View = expected.values.constructor;
  const values = new View(bytes.slice().buffer);
  if (values.length !== expected.values.length) return Infinity;
  return values.reduce((most, value, at) => Math.max(most, Math.abs(Number(value) - Number(expected.values[at]))), 0);
}

function startMachine(model) {
  const library = tvm.getGlobalFunc("ffi.SystemLib")(`fixture_${model}_`);
  const machine = library.getFunction("vm_load_executable")();
  const numbers = [1, 0, 2, 1, 0, 2].map((number) => tvm.scalar(number, "int"));
  machine.getFunction("vm_initialization")(...numbers);
  return machine;
}

let failed = 0;
let count = 0;
for (const line of fs.readFileSync(path.join(models, "calls.txt"), "utf8").split("\n")) {
  if (!line || line.startsWith("#")) continue;
  const [model, name, tolerance, ...rest] = line.split(" ");
  const folder = path.join(models, model);
  const middle = rest.indexOf("--");
  tvm.withNewScope(() => {
    const args = rest.slice(0, middle).map((text) => toArgument(folder, text));
    const results = flatten(startMachine(model).getFunction(name)(...args));
    const expected = rest.slice(middle + 1).map((file) => readArray(path.join(folder, file)));
    const most = Math.max(0, ...expected.map((array, at) => (results[at] ? difference(array, results[at]) : Infinity)));
    count += 1;
    if (results.length !== expected.length || !(most <= Number(tolerance))) {
      failed += 1;
      console.log(`FAILED  ${line}: ${results.length} results, difference ${most}`);
    }
  });
}
console.log(`models: ${count - failed} passed, ${failed} failed`);
process.exit(failed === 0 && count > 0 ? 0 : 1);
