// usage: node types.mjs RUNTIME FOLDER
//
// Calls functions with element types for which tvmjs has no arrays, and with tuples as results.
import assert from "node:assert";
import { load } from "./program.mjs";

const model = await load();

const large = 1n << 40n;
const wide = { x: BigInt64Array.of(large, 2n, 3n, 4n, 5n, 6n), "second one": new BigInt64Array(6).fill(-2n) };
const { output0: sum, output1: product } = await model.run(wide, "wide");
assert.deepStrictEqual(sum.data, wide.x.map((value) => value - 2n));
assert.deepStrictEqual(product.data, wide.x.map((value) => value * -2n));

// 1.5 + 1.5 = 3 and 1.5 * 1.5 = 2.25, as bits.
const halves = new Uint16Array(6).fill(0x3e00);
const results = await model.run({ x: halves, "second one": halves });
assert.deepStrictEqual(Object.values(results).map(({ dtype, data }) => [dtype, data[5]]), [["float16", 0x4200], ["float16", 0x4080]]);
