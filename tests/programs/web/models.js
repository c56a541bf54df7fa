// usage: node models.js TVMJS WASM [MODEL]
//
// Runs the models of ../relax that are linked into a module, all or one, by TVM's JavaScript
// runtime, and compares their results with the recorded ones.
"use strict";
const fs = require("fs");
const path = require("path");
const { difference, parseArray, startMachine } = require("./support.js");

const [, , runtime, wasm, only] = process.argv;
const tvmjs = require(path.resolve(runtime));
const models = path.join(__dirname, "../relax/models");
const tvm = new tvmjs.Instance(new WebAssembly.Module(fs.readFileSync(wasm)), {});

const readArray = (file) => parseArray(new Uint8Array(fs.readFileSync(file)));

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

let failed = 0;
let count = 0;
for (const line of fs.readFileSync(path.join(models, "calls.txt"), "utf8").split("\n")) {
  if (!line || line.startsWith("#")) continue;
  const [model, name, tolerance, ...rest] = line.split(" ");
  if (only && model !== only) continue;
  const folder = path.join(models, model);
  const middle = rest.indexOf("--");
  tvm.withNewScope(() => {
    const args = rest.slice(0, middle).map((text) => toArgument(folder, text));
    const results = flatten(startMachine(tvm, `fixture_${model}_`, 1).getFunction(name)(...args));
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
