// Classifies pictures.json by the model, under the package and under TVM's JavaScript runtime, in a page or in a worker.
import "./tvmjs.js";
import { load as loadTvmjs } from "./ferrite/tvmjs.mjs";
import { load } from "./model.mjs";

async function classifyBy(model) {
  const pixels = Float32Array.from(await (await fetch("pictures.json")).json());
  const pictures = Array.from({ length: pixels.length / 64 }, (_, at) => pixels.subarray(64 * at, 64 * at + 64));
  const classify = async (x) => {
    const { y: { data } } = await model.run({ x });
    return data.indexOf(Math.max(...data));
  };
  const inTurn = [];
  for (const picture of pictures) inTurn.push(await classify(picture));
  const together = await Promise.all(pictures.map(classify));
  model.dispose();
  return [inTurn, together];
}

export async function classifyAll() {
  return [...(await classifyBy(await load())), ...(await classifyBy(await loadTvmjs(tvmjs, "model.wasm")))];
}

if (typeof WorkerGlobalScope !== "undefined") classifyAll().then(postMessage);
