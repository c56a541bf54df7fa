// Imports what a program of this folder is called with: TVMJS FOLDER [ARGUMENT...].
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [runtime, folder, ...rest] = process.argv.slice(2);
export const { default: tvmjs } = await import(pathToFileURL(path.resolve(runtime)));
export const { load, functions } = await import(pathToFileURL(path.resolve(folder, "model.mjs")));
export const wasm = await readFile(path.join(folder, "model.wasm"));
export const argumentsLeft = rest;
