// usage: node digits.mjs RUNTIME FOLDER PICTURES LABELS
//
// Classifies pictures by a model for web pages, one after another and all at once.
import assert from "node:assert";
import { readFile } from "node:fs/promises";
import { argumentsLeft, load } from "./program.mjs";

const [pictures, labels] = argumentsLeft;
const read = async (file) => JSON.parse(await readFile(file));

const model = await load();
const [x, y] = [["x", [1, 1, 8, 8]], ["y", [1, 10]]].map(([name, shape]) => ({ name, dtype: "float32", shape }));
assert.deepStrictEqual([model.device, model.functions], ["cpu", { main: { inputs: [x], outputs: [y] } }]);
const pixels = Float32Array.from(await read(pictures));
const expected = await read(labels);
assert.strictEqual(pixels.length, 64 * expected.length);

async function classify(at) {
  const { y: { shape, dtype, data } } = await model.run({ x: pixels.subarray(64 * at, 64 * at + 64) });
  assert.deepStrictEqual([shape, dtype], [[1, 10], "float32"]);
  return data.indexOf(Math.max(...data));
}

const found = [];
for (const at of expected.keys()) found.push(await classify(at));
assert.deepStrictEqual(found, expected);
assert.deepStrictEqual(await Promise.all([...expected.keys()].map(classify)), expected);

for (const wrong of [undefined, [1, 2], new Float64Array(64)]) {
  await assert.rejects(model.run({ x: wrong }), { name: "TypeError", message: "The input x is not a Float32Array" });
}
await assert.rejects(model.run({ x: new Float32Array(63) }), { name: "RangeError", message: "The input x has 63 elements, not 64" });
await assert.rejects(model.run({ x: pixels }, "toString"), { name: "TypeError", message: "The model has no function toString" });
assert.strictEqual(await classify(0), expected[0]);
model.dispose();
console.log(`${expected.length} of ${expected.length} digits right`);
