// Cases of a module with a kernel for WebGPU under TVM's JavaScript runtime, in Node and in pages.
"use strict";

const COUNT = 5000;
const numbers = (first) => Float32Array.from({ length: COUNT }, (_, at) => first + at);

/** Uploads, launches, and queues a read back. */
function addOne(tvm, first) {
  const x = tvm.empty([COUNT], "float32", tvm.webgpu()).copyFrom(numbers(first));
  const y = tvm.empty([COUNT], "float32", tvm.webgpu());
  tvm.systemLib().getFunction("add_one")(x, y);
  return tvm.empty([COUNT], "float32", tvm.cpu()).copyFrom(y);
}

/** Returns the cases by their names; `start` makes an instance, and a device for it. */
const webgpuCases = (assert, start, startMachine) => ({
  async "a page without a device gets an error"() {
    const { tvm } = await start();
    tvm.withNewScope(() => {
      assert.throws(() => tvm.empty([4], "float32", tvm.webgpu()), /RuntimeError: The page has no WebGPU device/);
      assert.strictEqual(tvm.empty([3]).copyFrom([1, 2, 3]).toArray()[2], 3);
    });
  },
  async "kernels run, and results arrive with sync"() {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    const result = addOne(tvm, 7);
    assert.strictEqual(result.toArray()[COUNT - 1], 0);
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(8));
    // A device in main memory counts them.
    assert.strictEqual(device.launches ?? 1, 1);
    tvm.endScope();
  },
  async "pipelines are made ahead"() {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    await tvm.asyncLoadWebGPUPipelines(tvm.systemLib());
    const result = addOne(tvm, 1);
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(2));
    tvm.endScope();
  },
  async "a model uploads its constants without waiting"() {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    const machine = startMachine(tvm, "constant_", 15);
    const x = tvm.empty([COUNT], "float32", tvm.webgpu()).copyFrom(new Float32Array(COUNT).fill(3));
    const result = tvm.empty([COUNT], "float32").copyFrom(machine.getFunction("main")(x));
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(3));
    tvm.endScope();
  },
  async "a lost device is an error of sync, and the instance goes on"() {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    // tvmjs 0.27 always disposes the instance, after an error on the console.
    tvm.setDeviceLostAutoDispose?.(false);
    tvm.beginScope();
    addOne(tvm, 1);
    await tvm.webgpu().sync();
    // Both are read back after the device is lost.
    for (const first of [2, 3]) addOne(tvm, first);
    device.destroy();
    let message = "nothing was thrown";
    try { await tvm.webgpu().sync(); } catch (error) { message = error.message; }
    assert.ok(/lost|destroyed|unmapped/i.test(message), message);
    if (tvm.setDeviceLostAutoDispose) assert.strictEqual(tvm.empty([3]).copyFrom([1, 2, 3]).toArray()[2], 3);
    const other = await start();
    other.tvm.initWebGPU(other.device);
    other.tvm.beginScope();
    const result = addOne(other.tvm, 7);
    await other.tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), numbers(8));
    other.tvm.endScope();
  },
  async "targets that are released before sync are not overwritten too early"() {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    for (let round = 0; round < 1000; ++round) {
      tvm.withNewScope(() => { addOne(tvm, round); });
      tvm.beginScope();
      // They would take the memory of a target that was released.
      const others = [1, 2, 3].map((value) => tvm.empty([COUNT], "float32").copyFrom(new Float32Array(COUNT).fill(value)));
      await tvm.webgpu().sync();
      others.forEach((other, at) => { assert.ok(other.toArray().every((value) => value === at + 1)); });
      tvm.endScope();
      if (round === 10) tvm.before = tvm.lib.memory.memory.buffer.byteLength;
    }
    assert.strictEqual(tvm.lib.memory.memory.buffer.byteLength, tvm.before);
  },
});

if (typeof module !== "undefined") module.exports = { COUNT, webgpuCases };
