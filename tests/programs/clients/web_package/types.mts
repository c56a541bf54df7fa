// The types of the package, for tsc --strict.
import { Model, NoWebGPUError, type Tensor } from "@ferrite/web";
import { load } from "@ferrite/web/tvmjs";
import { Model as WorkerModel } from "@ferrite/web/worker";

export async function first(source: string, tvmjs: object): Promise<number> {
  const model: Model = await Model.load({ cpu: source, webgpu: new URL(source) }, { device: "auto", memoryLimit: 1 << 20, signal: AbortSignal.timeout(1) });
  const workers = await WorkerModel.load(fetch(source), { worker: new Worker(source) });
  const { y } = await workers.run({ x: new Float32Array(64) });
  const [{ name, calls, milliseconds }] = await model.profile({ x: new Float32Array(64) });
  // @ts-expect-error: a list of numbers
  await model.run({ x: [1, 2] });
  // @ts-expect-error: a device that there is not
  await Model.load(source, { device: "webgl" });
  const { tvm, functions } = await load(tvmjs, source);
  const { kind }: NoWebGPUError = new NoWebGPUError(`${name} ${calls} ${milliseconds} ${tvm} ${functions.main.inputs[0].dtype}`);
  using other = model;
  return (y as Tensor<Float32Array>).data[0] + kind.length + Number(other.device === "cpu");
}
