// Types of index.mjs.
/// <reference lib="dom" />
/// <reference lib="esnext.disposable" />

export type TypedArray = Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

export interface Tensor<Data extends TypedArray = TypedArray> {
  shape: number[];
  dtype: string;
  /** Elements in row-major order; those of float16 and bfloat16 are their bits. */
  data: Data;
}

/** A tensor, or a tuple in a tuple of results. */
export type Output = Tensor | Output[];

export type Device = "cpu" | "webgpu";

/** An address (in Node, a URL of a file, too), a response, bytes, or a compiled module. */
export type Source = string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module;

export interface Options {
  /** `auto`, the default, is the device that the model is compiled for. Another one is a TypeError. */
  device?: "auto" | Device;
  /** Ends the download. */
  signal?: AbortSignal;
  /** Maximum size of main memory in bytes. */
  memoryLimit?: number;
}

export interface Description {
  name: string;
  dtype: string;
  shape: number[];
}

/** Inputs of each function; outputs where the compiler knows them. */
export type Functions = Record<string, { inputs: Description[]; outputs?: Description[] }>;

export interface Operator {
  name: string;
  calls: number;
  milliseconds: number;
}

export class Model {
  protected constructor();
  /** Loads a model, which is compiled while it downloads. Of a model for each device, `auto` starts the first of `webgpu` and `cpu` that works. */
  static load(source: Source | Partial<Record<Device, Source>>, options?: Options): Promise<Model>;
  readonly device: Device;
  readonly functions: Functions;
  /** Calls a function, by default the model's main one. Outputs without a name are `output`, those of a tuple `output0` and so on. */
  run(inputs: Record<string, TypedArray>, name?: string): Promise<Record<string, Output>>;
  /**
   * Calls a function `runs` times, and returns means by operator, the longest first: on the CPU all calls of the machine, timed by the
   * page's clock; on WebGPU kernels, by time stamps of the GPU, which are NaN where it has no `timestamp-query`.
   */
  profile(inputs: Record<string, TypedArray>, name?: string, runs?: number): Promise<Operator[]>;
  /** Releases the model. Calls under way and later ones are errors. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** An error of a model; the kind is the library's, such as `ValueError`. */
export class ModelError extends Error {
  readonly kind: string;
}

/** The page has no WebGPU, or its GPU lacks a feature. */
export class NoWebGPUError extends ModelError {}

/** The GPU was lost. The next `load` works. */
export class DeviceLostError extends ModelError {}

/** Main memory or that of the GPU does not suffice. */
export class OutOfMemoryError extends ModelError {}
