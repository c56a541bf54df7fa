// Classes of errors.

/** An error of a model, of a kind such as `ValueError`. */
export class ModelError extends Error {
  constructor(kind, message, options) {
    super(message, options);
    this.name = this.constructor.name;
    this.kind = kind;
  }
}

/** The page has no WebGPU, or its GPU lacks a feature. */
export class NoWebGPUError extends ModelError {
  constructor(message) {
    super("NoWebGPUError", message);
  }
}

/** The GPU was lost: by a reset, or by the page's `device.destroy()`. Load the model again. */
export class DeviceLostError extends ModelError {
  constructor(message) {
    super("DeviceLostError", message);
  }
}

/** Main memory or that of the GPU does not suffice. */
export class OutOfMemoryError extends ModelError {
  constructor(message) {
    super("MemoryError", message);
  }
}
