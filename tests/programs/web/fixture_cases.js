// Functions and a transformer that TVM compiled for WebGPU, with NumPy's results.
"use strict";

/** Inputs, output, tolerance and scalars of the functions of ../device. */
const FUNCTIONS = {
  add_one: [["x"], "y", 0],
  axpy_dyn: [["x"], "y", 1e-5, [[2.5, "float32"], [-3, "int"]]],
  matmul: [["A", "B"], "C", 1e-4],
  softmax: [["x"], "y", 1e-5],
  mlp: [["x", "w1", "b1", "w2", "b2"], "out", 1e-3],
};

/** Returns the cases by their names. `start` makes an instance with a device, `read` reads an array. */
const fixtureCases = (assert, start, read) => {
  async function starting(body) {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    await body(tvm, ({ dtype, shape, values }) => {
      const onCpu = tvm.empty(shape, dtype).copyFromRawBytes(new Uint8Array(values.buffer));
      return tvm.empty(shape, dtype, tvm.webgpu()).copyFrom(onCpu);
    });
    tvm.endScope();
  }
  async function check(tvm, result, expected, tolerance) {
    const onCpu = tvm.empty(expected.shape, expected.dtype).copyFrom(result);
    await tvm.webgpu().sync();
    const most = difference(expected, onCpu.toRawBytes());
    assert.ok(most <= tolerance, `a difference of ${most}`);
  }
  const functionCase = ([name, [inputs, output, tolerance, scalars = []]]) => [`the function ${name}`, () => starting(async (tvm, upload) => {
    const array = (file) => read(`device/data/${name}/${file}.npy`);
    const expected = await array(output);
    const result = tvm.empty(expected.shape, expected.dtype, tvm.webgpu());
    const args = (await Promise.all(inputs.map(array))).map(upload);
    tvm.getGlobalFunc("ffi.SystemLib")("device_").getFunction(name)(...args, result, ...scalars.map((scalar) => tvm.scalar(...scalar)));
    await check(tvm, result, expected, tolerance);
  })];
  return {
    ...Object.fromEntries(Object.entries(FUNCTIONS).map(functionCase)),
    "a transformer": () => starting(async (tvm, upload) => {
      const forward = startMachine(tvm, "transformer_", 15).getFunction("forward");
      const array = (file) => read(`relax/models/transformer/${file}.npy`);
      const mask = upload(await array("c0_arg1"));
      for (const call of ["c0", "c1", "c2"]) {
        const result = forward(upload(await array(`${call}_arg0`)), mask);
        await check(tvm, result, await array(`${call}_out0`), 1e-4);
      }
    }),
  };
};
