// Types of worker.mjs.
import { Device, Model as PageModel, Options, Source } from "./index.mjs";

export * from "./index.mjs";

/** A model in a worker. */
export class Model extends PageModel {
  /** Starts a worker, and loads a model in it. `worker` is a worker of `@ferrite/web/thread` that the page has started. */
  static load(source: Source | Partial<Record<Device, Source>>, options?: Options & { worker?: Worker }): Promise<Model>;
}
