// A program for bundlers: the package, alone and in a worker.
import { Model } from "@ferrite/web";
import { Model as WorkerModel } from "@ferrite/web/worker";

export async function sum(source) {
  const model = await Model.load(source);
  await model.profile({ one: new Float32Array(4), other: new Float32Array(4) }, "main", 1);
  const { output0 } = await model.run({ one: Float32Array.of(1, 2, 3, 4), other: new Float32Array(4).fill(1) });
  return Array.from(output0.data);
}

export const loadInWorker = (source) => WorkerModel.load(source);
