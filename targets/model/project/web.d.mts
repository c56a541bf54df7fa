// model.d.mts: the types of model.mjs.
import { Model as AnyModel, Options, Output, Source, Tensor } from "./ferrite/index.mjs";

export interface Model extends Omit<AnyModel, "run"> {
@CALLS@
}

export declare function load(options?: Options & { source?: Source }): Promise<Model>;
