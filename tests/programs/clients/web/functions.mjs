// usage: node functions.mjs TVMJS FOLDER linked|unlinked
//
// A function of the library that a model does not call works if it is linked, and so does a method
// of its modules. Otherwise the error of a method, or of a function that runtimes look up, names the
// option, and other functions do not exist.
import assert from "node:assert";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [runtime, folder, state] = process.argv.slice(2);
const { default: tvmjs } = await import(pathToFileURL(path.resolve(runtime)));
const tvm = await tvmjs.instantiate(await readFile(path.join(folder, "model.wasm")), {});
tvm.withNewScope(() => {
  const probabilities = tvm.empty([1, 3], "float32", tvm.cpu()).copyFrom([0, 1, 0]);
  const sample = () => tvm.sampleTopPFromProb(probabilities, 1, 0.5);
  if (state === "linked") assert.strictEqual(sample(), 1);
  else assert.throws(sample, /vm\.builtin\.sample_top_p_from_prob is not linked into this module: link the module with `--with vm\./);
  const stats = tvm.systemLib().getFunction("stats");
  if (state === "linked") assert.match(stats(), /Relax VM executable statistics/);
  else assert.throws(stats, /relax\.VMExecutable\.stats is not linked into this module: link the module with `--with relax\./);
  assert.throws(() => tvm.getGlobalFunc("vm.builtin.make_tuple"), /make_tuple/);
  assert.ok(!tvm.listGlobalFuncNames().includes("vm.builtin.make_tuple"));
  assert.ok(tvm.listGlobalFuncNames().includes("vm.builtin.reshape"));
});
