// usage: node --test memory.mjs, with the built example growing_memory of ferrite-ffi-core in MODULE
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const MIB = 1 << 20;
const code = new WebAssembly.Module(readFileSync(process.env.MODULE));

function start() {
  const { exports } = new WebAssembly.Instance(code, {});
  return { ...exports, pages: () => exports.memory.buffer.byteLength };
}

/** Allocates a block and writes its number to both ends. */
function allocate(module, bytes, number) {
  const block = module.allocate(bytes);
  assert.notEqual(block, 0, `${bytes} bytes`);
  assert.equal(block % 16, 0);
  const ends = [new Int32Array(module.memory.buffer, block, 1), new Int32Array(module.memory.buffer, block + bytes - 4, 1)];
  for (const end of ends) end[0] = number;
  return { block, bytes, number };
}

function release(module, { block, bytes, number }) {
  assert.equal(new Int32Array(module.memory.buffer, block, 1)[0], number);
  assert.equal(new Int32Array(module.memory.buffer, block + bytes - 4, 1)[0], number);
  module.release(block);
}

test("tensors of 64 to 160 MiB fit, and their memory is used again", () => {
  const module = start();
  const before = module.pages();
  for (const size of [64, 96, 160, 64, 160, 96]) {
    release(module, allocate(module, size * MIB, size));
  }
  assert.ok(module.pages() - before <= 1.25 * 160 * MIB, `${module.pages()} bytes`);
});

test("blocks in turns take little more memory than those that live", () => {
  const module = start();
  const before = module.pages();
  let [bytes, peak] = [0, 0];
  const live = [];
  for (let number = 0; number < 5000; ++number) {
    const size = MIB << (number % 6);
    while (bytes + size > 64 * MIB) {
      const oldest = live.shift();
      bytes -= oldest.bytes;
      release(module, oldest);
    }
    live.push(allocate(module, size, number));
    bytes += size;
    if (number === 2500) peak = module.pages();
  }
  live.forEach((block) => release(module, block));
  assert.ok(module.pages() - before <= 72 * MIB, `${module.pages()} bytes`);
  assert.equal(module.pages(), peak, "memory grows after the first half");
});

test("many small blocks are freed and found in any order", () => {
  const module = start();
  let pages;
  for (let round = 0; round < 20; ++round) {
    const blocks = Array.from({ length: 5000 }, (_, at) => allocate(module, 8 + 4 * ((at * 37) % 225), at));
    for (let step = 0; step < 7; ++step) {
      for (let at = step; at < blocks.length; at += 7) release(module, blocks[at]);
    }
    pages ??= module.pages();
  }
  assert.equal(module.pages(), pages);
});

test("growth beyond the limit is a MemoryError, and the instance goes on", () => {
  const module = start();
  const text = allocate(module, 256, 0).block;
  const failure = (bytes) => {
    const length = module.make_tensor(bytes, text);
    return Buffer.from(module.memory.buffer, text, length).toString();
  };
  module.set_limit(32 * MIB);
  const before = module.pages();
  assert.match(failure(64 * MIB), /^MemoryError: .*67108864/);
  assert.equal(module.allocate(64 * MIB), 0);
  assert.equal(module.pages(), before);
  assert.equal(failure(16 * MIB), "");
  assert.ok(module.pages() <= 32 * MIB);
  module.set_limit(2 ** 32 - 1);
  assert.equal(failure(64 * MIB), "");
  // More than an engine gives.
  assert.match(failure(2 ** 31 - 64), /^$|^MemoryError: /);
  release(module, allocate(module, MIB, 1));
});
