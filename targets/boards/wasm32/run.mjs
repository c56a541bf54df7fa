// usage: node run.mjs FIRMWARE [ARGUMENT]: runs a firmware module; its exit status is this program's.
import { readFileSync, writeSync } from "node:fs";

let memory;
const imports = {
  board: {
    write: (text, size) => writeSync(1, new Uint8Array(memory.buffer, text, size)),
    exit: (status) => process.exit(status),
    argument: (place, capacity) => {
      const bytes = new TextEncoder().encode(process.argv[3] ?? "").subarray(0, capacity);
      new Uint8Array(memory.buffer, place, capacity).set(bytes);
      return bytes.length;
    },
  },
  env: { expf: (x) => Math.fround(Math.exp(x)) },
};
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), imports);
memory = instance.exports.memory;
instance.exports.start();
