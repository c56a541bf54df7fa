// The page: which device its two parts use, and a notice of what is missing.
import { Digits } from "./digits.mjs";
import { DeviceLostError } from "./ferrite/index.mjs";
import { Letters } from "./letters.mjs";

const notice = document.getElementById("notice");
const devices = document.getElementById("devices");
const parts = [new Digits(explain), new Letters(explain)];
let loading;

function report(problem) {
  notice.textContent = problem;
  notice.classList.toggle("missing", Boolean(problem));
}

/** Reports the error of a part. Both parts have the error of a lost GPU, and the CPU takes over once. */
function explain(problem, error) {
  if (!(error instanceof DeviceLostError)) report(`${problem}: ${error.message}`);
  else if (document.body.dataset.device === "webgpu") {
    document.body.dataset.device = "";
    loading = loading.then(() => fallBack(error));
  }
}

/** Loads the networks for a device. */
async function use(device) {
  report("");
  const loaded = await Promise.allSettled(parts.map((part) => part.load(device)));
  const failed = loaded.find(({ status }) => status === "rejected");
  document.body.dataset.device = failed ? "" : device;
  if (!failed) return;
  if (device === "webgpu") await fallBack(failed.reason);
  else report(`The networks could not be loaded: ${failed.reason.message}`);
}

async function fallBack(error) {
  devices.querySelector("[value=cpu]").checked = true;
  await use("cpu");
  report(`WebGPU cannot be used, so the CPU is: ${error.message}`);
}

/** Returns a reason why the page cannot use WebGPU. */
async function missingWebGpu() {
  if (!isSecureContext) return "WebGPU needs https or localhost";
  if (!navigator.gpu) return "This browser has no WebGPU";
  return (await navigator.gpu.requestAdapter()) ? "" : "This machine has no GPU for WebGPU";
}

async function start() {
  if (typeof WebAssembly !== "object") return report("This browser has no WebAssembly, which the networks need.");
  loading = use("cpu");
  // A device is loaded after the one before it, so that the last choice stays.
  devices.addEventListener("change", ({ target }) => { loading = loading.then(() => use(target.value)); });
  await loading;
  const missing = await missingWebGpu();
  if (missing) {
    devices.querySelector("[value=webgpu]").disabled = true;
    notice.textContent ||= `${missing}; the networks run on the CPU.`;
  }
  // Pages open without a network from then on.
  await navigator.serviceWorker?.register("worker.js");
}

start();
