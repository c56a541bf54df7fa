// A WebGPU device in main memory, for programs in Node. Commands run later, in order, as on a GPU:
// a read back arrives after JavaScript has returned to its event loop. Kernels are functions in
// JavaScript, by entry point: (buffers as Uint8Array) => void.
"use strict";

Object.assign(globalThis, {
  GPUBufferUsage: { MAP_READ: 1, MAP_WRITE: 2, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 },
  GPUMapMode: { READ: 1, WRITE: 2 },
  GPUShaderStage: { COMPUTE: 4 },
});

class FakeBuffer {
  constructor(device, size) {
    this.device = device;
    this.size = size;
    this.bytes = new Uint8Array(size);
  }
  mapAsync() {
    return this.device.later(() => {
      if (this.device.isLost) throw new DOMException("The device is lost", "AbortError");
    });
  }
  getMappedRange(offset = 0, size = this.size - offset) { return this.bytes.slice(offset, offset + size).buffer; }
  unmap() {}
  destroy() {}
}

class FakeEncoder {
  constructor(device) {
    this.device = device;
    this.commands = [];
  }
  copyBufferToBuffer(from, fromOffset, to, toOffset, size) {
    this.commands.push(() => to.bytes.set(from.bytes.subarray(fromOffset, fromOffset + size), toOffset));
  }
  beginComputePass() {
    let kernel;
    let buffers;
    return {
      setPipeline: (pipeline) => { kernel = pipeline.kernel; },
      setBindGroup: (_, group) => { buffers = group.entries.map((entry) => entry.resource.buffer); },
      dispatchWorkgroups: () => {
        const [launched, args] = [kernel, buffers];
        this.commands.push(() => launched(...args.map((buffer) => buffer.bytes)));
        this.device.launches += 1;
      },
      end() {},
    };
  }
  finish() { return this.commands; }
}

class FakeDevice {
  constructor(kernels) {
    this.kernels = kernels;
    this.launches = 0;
    this.tail = Promise.resolve();
    this.lost = new Promise(() => {});
    this.limits = {};
    this.queue = {
      submit: (lists) => { lists.flat().forEach((command) => this.later(command)); },
      writeBuffer: (buffer, offset, data, start = 0, size = undefined) => {
        const whole = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
        const copy = whole.slice(start, size === undefined ? undefined : start + size);
        this.later(() => buffer.bytes.set(copy, offset));
      },
      onSubmittedWorkDone: () => this.later(() => {}),
    };
  }
  /** Runs a command after all earlier ones, and not before the event loop has turned. */
  later(command) {
    const done = this.tail.then(() => new Promise((resolve) => { setImmediate(resolve); })).then(command);
    this.tail = done.catch(() => {});
    return done;
  }
  addEventListener() {}
  pushErrorScope() {}
  async popErrorScope() { return null; }
  destroy() { this.isLost = true; }
  createBuffer({ size }) { return new FakeBuffer(this, size); }
  createCommandEncoder() { return new FakeEncoder(this); }
  createBindGroupLayout(layout) { return layout; }
  createPipelineLayout(layout) { return layout; }
  createShaderModule(shader) { return shader; }
  createBindGroup(group) { return group; }
  createComputePipeline({ compute }) { return { kernel: this.kernels[compute.entryPoint] }; }
  async createComputePipelineAsync(pipeline) { return this.createComputePipeline(pipeline); }
}

module.exports = { FakeDevice };
