// model.d.mts: the types of model.mjs.

export interface Tensor {
  shape: number[];
  dtype: string;
  /** Elements in row-major order; those of float16 and bfloat16 are their bits. */
  data: Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array;
}

/** A tensor, or a tuple of results. */
export type Result = Tensor | Result[];

export interface Model {
@CALLS@
  /** Releases the memory of the model. */
  dispose(): void;
}

export declare const functions: Record<string, { name: string; dtype: string; shape: number[] }[]>;

/** `tvmjs` is the module `@mlc-ai/web-runtime`; `gpu` is a GPUDevice. */
export declare function load(tvmjs: object, options?: { wasm?: BufferSource; gpu?: object }): Promise<Model>;
