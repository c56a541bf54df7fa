// Types of tvmjs.mjs.
import { Model, Source } from "./index.mjs";

/** A model under TVM's own JavaScript runtime. */
export interface TvmModel extends Omit<Model, "profile"> {
  /** Instance of TVM's runtime, for all that this interface does not offer. */
  readonly tvm: any;
}

/**
 * Starts TVM's runtime on a model. `tvmjs` is the module `@mlc-ai/web-runtime`; `gpu` is the GPUDevice of a model for
 * WebGPU, by default the page's fastest.
 */
export declare function load(tvmjs: object, source: Source, options?: { gpu?: object; signal?: AbortSignal }): Promise<TvmModel>;
