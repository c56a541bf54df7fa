// Runs a model in the page and in a worker, and sends the results to the page around it.
import { Model } from "./ferrite/index.mjs";
import { Model as WorkerModel } from "./ferrite/worker.mjs";

async function double(Class) {
  const model = await Class.load("cpu.wasm");
  return (await model.run({ x: Float32Array.of(1, 2, 3, 4) })).output.data.join();
}

addEventListener("securitypolicyviolation", ({ blockedURI }) => parent.postMessage([`refused ${blockedURI}`]));
parent.postMessage(await Promise.all([double(Model), double(WorkerModel)]).catch((error) => [error.stack]));
