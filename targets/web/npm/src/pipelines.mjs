// Kernels in WGSL: their pipelines, and launches.
import { ModelError, NoWebGPUError } from "./errors.mjs";

/** Bytes of scalar arguments in the launches between two submissions. */
const SCALARS = 1 << 16;
/** Alignment of these in bytes, which suffices for each GPU. */
const ALIGNMENT = 256;
/** Largest number of work groups in a dimension. */
const GROUPS = 65535;
const ACCESS = "paramWriteAccess:";

export class Pipelines {
  #instance;
  #gpu;
  /** Scalar arguments of launches that are not submitted. */
  #staged = new ArrayBuffer(SCALARS);
  #used = 0;
  #scalars;

  constructor(instance, gpu) {
    this.#instance = instance;
    this.#gpu = gpu;
    this.#scalars = gpu.device.createBuffer({ size: SCALARS, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  }

  /** Makes the pipelines of a module's kernels, which the GPU compiles in parallel. */
  async prepare(module) {
    const instance = this.#instance;
    const map = instance.find(module, "webgpu.get_fmap");
    if (!map) return;
    const kernels = Object.values(JSON.parse(instance.call(map)));
    map.dispose();
    await Promise.all(kernels.map(async (kernel) => {
      const { descriptor, launcher } = this.#describe(kernel, instance.method(module, "webgpu.get_shader", kernel.name));
      const launch = launcher(await this.#compiled(kernel, descriptor));
      instance.method(module, "webgpu.update_prebuild", kernel.name, launch);
      launch.dispose();
    }));
  }

  /** Makes a kernel at its first launch. */
  create(kernel, code) {
    const { descriptor, launcher } = this.#describe(kernel, code);
    return launcher(this.#gpu.device.createComputePipeline(descriptor));
  }

  /** Writes the scalar arguments of all launches since the last submission. */
  writeScalars() {
    if (this.#used) this.#gpu.device.queue.writeBuffer(this.#scalars, 0, this.#staged, 0, this.#used);
    this.#used = 0;
  }

  async #compiled({ name }, descriptor) {
    try {
      return await this.#gpu.device.createComputePipelineAsync(descriptor);
    } catch (error) {
      throw new ModelError("GPUError", `The kernel ${name} does not compile: ${error.message}`);
    }
  }

  #describe({ name, arg_types: types, launch_param_tags: tags }, code) {
    const { device } = this.#gpu;
    if (/^\s*enable f16/m.test(code) && !device.features.has("shader-f16")) {
      throw new NoWebGPUError("This page's GPU has no shader-f16, which the model needs");
    }
    const writes = JSON.parse(tags.find((tag) => tag.startsWith(ACCESS)).slice(ACCESS.length));
    const kinds = [...writes.map((write) => (write ? "storage" : "read-only-storage")), "uniform"];
    const entries = kinds.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
    const layout = device.createBindGroupLayout({ entries });
    const descriptor = {
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code }), entryPoint: name },
    };
    const extents = tags.filter((tag) => !tag.startsWith(ACCESS));
    return { descriptor, launcher: (pipeline) => this.#launcher({ name, types, extents, layout, pipeline }) };
  }

  /** Returns the function that launches a kernel: its arguments are the kernel's, and an extent for each tag. */
  #launcher({ name, types, extents, layout, pipeline }) {
    return this.#instance.numeric((...values) => {
      const buffers = types.flatMap((type, at) => (type === "handle" ? [{ buffer: this.#gpu.buffer(values[at]) }] : []));
      const grid = Object.fromEntries(extents.map((tag, at) => [tag, values[types.length + at]]));
      const { "blockIdx.x": x = 1, "blockIdx.y": y = 1, "blockIdx.z": z = 1 } = grid;
      if (z !== 1) throw new RangeError("Grids of kernels for WebGPU have two dimensions");
      const scalars = this.#stage(types.flatMap((type, at) => (type === "handle" ? [] : [[type, values[at]]])), x);
      const entries = [...buffers, scalars].map((resource, binding) => ({ binding, resource }));
      const pass = this.#gpu.pass(name);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.#gpu.device.createBindGroup({ layout, entries }));
      // The third dimension continues the first, and kernels compare their group with its extent.
      const layers = Math.ceil(x / GROUPS) || 1;
      pass.dispatchWorkgroups(Math.ceil(x / layers), y, layers);
    });
  }

  /** Stages the scalar arguments of a launch, and the first extent of its grid. Returns their resource. */
  #stage(scalars, extent) {
    const size = 4 * (scalars.length + 1);
    if (this.#used + size > SCALARS) this.#gpu.flush();
    const offset = this.#used;
    const view = new DataView(this.#staged, offset, size);
    [...scalars, ["uint32", extent]].forEach(([type, value], at) => {
      if (type.startsWith("float")) view.setFloat32(4 * at, value, true);
      else view.setUint32(4 * at, value, true);
    });
    this.#used += Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    return { buffer: this.#scalars, offset, size };
  }
}
