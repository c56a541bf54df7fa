// Times of a model's operators and kernels.

/** Launches of a call that have a time. */
const LAUNCHES = 2048;

/** Runs a function of a machine, and returns the mean calls and times of its operators. */
export async function profileOperators(instance, machine, run, runs) {
  const totals = new Totals();
  const starts = [];
  const instrument = instance.callback((args) => {
    const isBefore = instance.number(args, 2);
    if (isBefore) starts.push(performance.now());
    else totals.add(instance.string(args, 1), performance.now() - starts.pop());
  });
  instance.method(machine, "set_instrument", instrument);
  instrument.dispose();
  for (let count = 0; count < runs; ++count) await run();
  return totals.means(runs);
}

/** Runs a function on a GPU, and returns the mean launches and times of its kernels. */
export async function profileKernels(gpu, run, runs) {
  const totals = new Totals();
  gpu.timeStamps = new TimeStamps(gpu.device);
  try {
    for (let count = 0; count < runs; ++count) {
      await run();
      await gpu.timeStamps.addTo(totals, gpu);
    }
  } finally {
    gpu.timeStamps.dispose();
    gpu.timeStamps = undefined;
  }
  return totals.means(runs);
}

/** Calls and times by name. */
class Totals {
  #operators = new Map();

  add(name, milliseconds) {
    const found = this.#operators.get(name) ?? { name, calls: 0, milliseconds: 0 };
    found.calls += 1;
    found.milliseconds += milliseconds;
    this.#operators.set(name, found);
  }

  /** Returns the means of a number of runs, the longest first. */
  means(runs) {
    const means = [...this.#operators.values()].map(({ name, calls, milliseconds }) => ({ name, calls: calls / runs, milliseconds: milliseconds / runs }));
    return means.sort((one, other) => other.milliseconds - one.milliseconds);
  }
}

/** Time stamps of launches, each in a pass; without the GPU's feature `timestamp-query`, their number alone. */
class TimeStamps {
  #set;
  #buffer;
  #names = [];

  constructor(device) {
    if (!device.features.has("timestamp-query")) return;
    this.#set = device.createQuerySet({ type: "timestamp", count: 2 * LAUNCHES });
    this.#buffer = device.createBuffer({ size: 16 * LAUNCHES, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  }

  /** Begins the pass of a launch. */
  begin(encoder, name) {
    const at = 2 * (this.#names.push(name) - 1);
    if (!this.#set || at >= 2 * LAUNCHES) return encoder.beginComputePass();
    return encoder.beginComputePass({ timestampWrites: { querySet: this.#set, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 } });
  }

  /** Adds the launches since the last call of it. */
  async addTo(totals, gpu) {
    const names = this.#names.splice(0);
    if (!this.#set) return names.forEach((name) => totals.add(name, NaN));
    gpu.encoder().resolveQuerySet(this.#set, 0, 2 * Math.min(names.length, LAUNCHES), this.#buffer, 0);
    const stamps = new BigUint64Array(await gpu.read(this.#buffer, 0, 16 * LAUNCHES));
    return names.forEach((name, at) => totals.add(name, at < LAUNCHES ? Number(stamps[2 * at + 1] - stamps[2 * at]) / 1e6 : NaN));
  }

  dispose() {
    this.#set?.destroy();
    this.#buffer?.destroy();
  }
}
