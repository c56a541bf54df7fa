// Loads the model that a program of this folder is called with: RUNTIME FOLDER [ARGUMENT...]. RUNTIME is `package`, or the
// path of tvmjs.
import path from "node:path";
import { pathToFileURL } from "node:url";

const [runtime, folder, ...rest] = process.argv.slice(2);
const file = (...names) => pathToFileURL(path.resolve(...names));

export async function load() {
  if (runtime === "package") return (await import(file(folder, "model.mjs"))).load();
  const [{ default: tvmjs }, start] = await Promise.all([import(file(runtime)), import(file(folder, "ferrite/tvmjs.mjs"))]);
  return start.load(tvmjs, file(folder, "model.wasm"));
}

export const argumentsLeft = rest;
