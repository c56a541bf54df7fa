// Models in a worker, with the interface of index.mjs.
export * from "./errors.mjs";
import * as errors from "./errors.mjs";

const { ModelError } = errors;

export class Model {
  /** Starts a worker and loads a model in it. `worker` is one that the page has started, of thread.mjs. */
  static async load(source, { signal, worker = start(), ...options } = {}) {
    const model = new Model(worker);
    const stop = () => model.#end(signal.reason);
    signal?.addEventListener("abort", stop);
    try {
      signal?.throwIfAborted();
      Object.assign(model, await model.#call("load", [await clonable(source), options]));
      return model;
    } catch (error) {
      model.#end(error);
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  device;
  functions;
  #worker;
  #ended;
  /** Calls under way, by number. */
  #calls = new Map();
  #count = 0;

  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#answer(data);
    worker.onerror = (event) => this.#end(new ModelError("WorkerError", `The worker ended: ${event.message ?? "its script cannot be loaded"}`));
  }

  /** Calls a function. The worker gets copies of the arrays, and the page those of the worker. */
  async run(inputs, name) {
    const copies = Object.entries(inputs ?? {}).map(([key, array]) => [key, ArrayBuffer.isView(array) ? array.slice() : array]);
    const buffers = copies.flatMap(([, array]) => (ArrayBuffer.isView(array) ? [array.buffer] : []));
    return this.#call("run", [Object.fromEntries(copies), name], buffers);
  }

  profile(...args) {
    return this.#call("profile", args);
  }

  /** Ends the worker. */
  dispose() {
    this.#end(new ModelError("DisposedError", "The model is disposed"));
  }

  /** For `using`. Browsers without it call the method `undefined`. */
  [Symbol.dispose]() {
    this.dispose();
  }

  #call(method, args, buffers = []) {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = (this.#count += 1);
      this.#worker.postMessage({ id, method, args }, buffers);
      this.#calls.set(id, { resolve, reject });
    });
  }

  #answer({ id, result, error }) {
    const { resolve, reject } = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) reject(revive(error));
    else resolve(result);
  }

  #end(error) {
    this.#ended ??= error;
    this.#worker.terminate();
    this.#calls.forEach(({ reject }) => reject(this.#ended));
    this.#calls.clear();
  }
}

function start() {
  if (!globalThis.Worker) throw new ModelError("WorkerError", "There are no workers here");
  // Bundlers know this form.
  return new Worker(new URL("./thread.mjs", import.meta.url), { type: "module" });
}

/** Returns a source for another thread: addresses are relative to the page, and responses are read. */
async function clonable(source) {
  const found = await source;
  if (typeof found === "string" || found instanceof URL) return new URL(found, globalThis.document?.baseURI ?? globalThis.location?.href).href;
  if (found instanceof Response) return found.arrayBuffer();
  if (Object.getPrototypeOf(found) !== Object.prototype) return found;
  const choices = await Promise.all(Object.entries(found).map(async ([device, one]) => [device, await clonable(one)]));
  return Object.fromEntries(choices);
}

/** Returns an error of the worker's as one of this thread. */
function revive({ name, kind, message }) {
  const known = errors[name] ?? { RangeError, TypeError }[name];
  if (known === ModelError || !known) return new ModelError(kind ?? name, message);
  return new known(message);
}
