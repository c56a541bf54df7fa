// The networks by name and device.
import { Model } from "./ferrite/index.mjs";

/** Loads a network, and returns it with the mean time of its last calls. */
export async function loadModel(name, device) {
  return new TimedModel(await Model.load(`models/${name}-${device}.wasm`, { device }));
}

/** Calls whose mean time is shown; clocks of pages have steps of 0.1 ms. */
const CALLS = 32;

class TimedModel {
  #model;
  #times = [];

  constructor(model) {
    this.#model = model;
  }

  /** Returns the outputs by name. */
  async run(inputs) {
    const start = performance.now();
    const outputs = await this.#model.run(inputs);
    this.#times.push(performance.now() - start);
    if (this.#times.length > CALLS) this.#times.shift();
    return outputs;
  }

  get milliseconds() {
    return this.#times.reduce((sum, time) => sum + time, 0) / this.#times.length;
  }

  dispose() {
    this.#model.dispose();
  }
}
