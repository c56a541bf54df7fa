// Measurements of one runtime each, in Node and in pages. `read` returns the bytes of a file, `load` imports a module.
// Times are in milliseconds.

/** Returns the best time of a call, of batches of at least 100 ms. */
async function timeOf(call) {
  let best = Infinity;
  for (let batch = 0; batch < 7; ++batch) {
    const start = performance.now();
    let [count, end] = [0, start];
    while (end - start < 100) {
      for (let at = 0; at < 20; ++at) await call();
      count += 20;
      end = performance.now();
    }
    best = Math.min(best, (end - start) / count);
  }
  return best;
}

const picture = () => Float32Array.from({ length: 64 }, (_, at) => (at * 7) % 17);

/** From the bytes of the model to its first result; and a later inference. */
async function measureModel(create) {
  const start = performance.now();
  const run = await create();
  const scores = await run();
  return { start: performance.now() - start, inference: await timeOf(run), scores: Array.from(scores) };
}

export const MEASURES = {
  async ferrite({ read, load }) {
    const { Model } = await load("ferrite");
    const bytes = await read("model.wasm");
    const x = picture();
    return measureModel(async () => {
      const model = await Model.load(bytes);
      return async () => Object.values(await model.run({ x }))[0].data;
    });
  },

  async onnxruntime({ read, load }) {
    const ort = (await load("onnxruntime")).default;
    const model = new Uint8Array(await read("model.onnx"));
    ort.env.wasm.wasmBinary = await read("onnxruntime.wasm");
    ort.env.wasm.numThreads = 1;
    const x = picture();
    return measureModel(async () => {
      const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
      return async () => (await session.run({ x: new ort.Tensor("float32", x, [1, 1, 8, 8]) }))[session.outputNames[0]].data;
    });
  },

  tvmjs: (tools) => measureStart(tools, "runtime.wasm"),
  upstream: (tools) => measureStart(tools, "upstream.wasm"),

  /** Calls of a compiled function by both libraries, alternately. */
  async calls({ read, load }) {
    const tvmjs = (await load("tvmjs")).default;
    const calls = {};
    for (const [name, file] of [["ferrite", "runtime.wasm"], ["upstream", "upstream.wasm"]]) {
      const tvm = await tvmjs.instantiate(await read(file), tvmjs.createPolyfillWASI());
      tvm.beginScope();
      const add = tvm.systemLib().getFunction("add_one");
      const [x, y] = [tvm.empty([1]), tvm.empty([1])];
      calls[name] = () => add(x, y);
    }
    const best = { ferrite: Infinity, upstream: Infinity };
    for (let round = 0; round < 60; ++round) {
      for (const [name, call] of Object.entries(calls)) {
        const start = performance.now();
        for (let at = 0; at < 20000; ++at) call();
        best[name] = Math.min(best[name], (performance.now() - start) / 20000);
      }
    }
    return best;
  },
};

/** A library without a model under tvmjs, from its bytes to an instance. */
async function measureStart({ read, load }, file) {
  const tvmjs = (await load("tvmjs")).default;
  const bytes = await read(file);
  const start = performance.now();
  await tvmjs.instantiate(bytes, tvmjs.createPolyfillWASI());
  return { start: performance.now() - start };
}
