// Models that `ferrite model --target web` makes, in web pages and Node.
export { DeviceLostError, ModelError, NoWebGPUError, OutOfMemoryError } from "./errors.mjs";
export { Model } from "./model.mjs";
