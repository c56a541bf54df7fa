// Runs page.mjs in Deno and Bun: the argument is the address of the model.
import { sum } from "./page.mjs";

console.log(String(await sum(new URL(globalThis.process.argv[2]))));
