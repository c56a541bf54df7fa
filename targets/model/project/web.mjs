// model.mjs: the model @NAME@, written by `ferrite model`.
import { Model } from "./ferrite/index.mjs";

/** Loads the model, whose WebAssembly is beside this file unless `source` is another. */
export function load({ source = new URL("model.wasm", import.meta.url), ...options } = {}) {
  return Model.load(source, options);
}
