// Devices of Chromium that lack something which a kernel or TVM's JavaScript runtime needs.
"use strict";

const f16 = `enable f16;
@group(0) @binding(0) var<storage, read_write> x : array<f16>;
@compute @workgroup_size(1) fn kernel() { x[0] = 1.0h; }`;
const large = `@group(0) @binding(0) var<storage, read_write> x : array<f32>;
@compute @workgroup_size(1024) fn kernel() { x[0] = 1.0; }`;

/** Returns the payload of a module with one kernel of this name and one buffer. */
function payload(name, code) {
  const number = (value) => [...new Uint8Array(BigUint64Array.of(BigInt(value)).buffer)];
  const string = (value) => [...number(value.length), ...new TextEncoder().encode(value)];
  const tags = ["blockIdx.x", "paramWriteAccess:[1]"];
  const info = [...string(name), ...number(1), 3, 64, 1, 0, ...number(tags.length), ...tags.flatMap(string), ...number(0)];
  return Uint8Array.from([...number(1), ...string(name), ...info, ...number(1), ...string(name), ...string(code)]);
}

async function messageOf(body) {
  try { await body(); } catch (error) { return error.message; }
  return "nothing was thrown";
}

/** Returns the cases by their names. `start` makes an instance with a device. */
const limitCases = (assert, start) => {
  const pipelines = async (code, pattern) => {
    const { tvm, device } = await start();
    tvm.initWebGPU(device);
    tvm.beginScope();
    const module_ = tvm.getGlobalFunc("ffi.Module.load_from_bytes.webgpu")(payload("kernel", code));
    const message = await messageOf(() => tvm.asyncLoadWebGPUPipelines(module_));
    assert.ok(pattern.test(message), message);
    // The instance goes on.
    const x = tvm.empty([4], "float32", tvm.webgpu()).copyFrom(new Float32Array([1, 2, 3, 4]));
    const result = tvm.empty([4], "float32").copyFrom(x);
    await tvm.webgpu().sync();
    assert.deepStrictEqual(result.toArray(), new Float32Array([1, 2, 3, 4]));
    tvm.endScope();
  };
  return {
    "a kernel with float16 on a device without it": () => pipelines(f16, /Invalid ShaderModule/),
    "a workgroup that is too large": () => pipelines(large, /workgroup_size\(1024, 1, 1\) that exceeds the maximum allowed/),
    async "an adapter with small limits"() {
      const { requestAdapter } = GPU.prototype;
      GPU.prototype.requestAdapter = async function request(options) {
        const adapter = await requestAdapter.call(this, options);
        const limits = new Proxy(adapter.limits, { get: (all, name) => (name === "maxStorageBuffersPerShaderStage" ? 8 : all[name]) });
        return { limits, features: adapter.features, info: adapter.info };
      };
      try {
        const message = await messageOf(() => tvmjs.detectGPUDevice());
        assert.ok(/maxStorageBuffersPerShaderStage exceeds limit. requested=10, limit=8/.test(message), message);
      } finally {
        GPU.prototype.requestAdapter = requestAdapter;
      }
    },
  };
};
