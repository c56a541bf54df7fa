// The worker of worker.mjs: a model, called by messages.
import { Model } from "./model.mjs";

let model;

const METHODS = {
  async load(source, options) {
    model = await Model.load(source, options);
    return { device: model.device, functions: model.functions };
  },
  run: (...args) => model.run(...args),
  profile: (...args) => model.profile(...args),
};

/** Returns the memory of arrays in a result, which changes hands. */
function buffers(result) {
  if (ArrayBuffer.isView(result)) return [result.buffer];
  return typeof result === "object" && result !== null ? Object.values(result).flatMap(buffers) : [];
}

addEventListener("message", async ({ data: { id, method, args } }) => {
  try {
    const result = await METHODS[method](...args);
    postMessage({ id, result }, buffers(result));
  } catch (error) {
    postMessage({ id, error: { name: error.name, kind: error.kind, message: error.message } });
  }
});
