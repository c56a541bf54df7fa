// usage: node run.mjs PACKAGES FOLDER [RUNTIME UPSTREAM]: see run.sh
//
// Each measurement has a process or a browser of its own; runtimes alternate, and the best of the
// rounds counts. `node run.mjs PACKAGES ... --one NAME` prints one measurement in Node.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import path from "node:path";
import zlib from "node:zlib";
import { MEASURES } from "./measures.mjs";

const ROUNDS = 5;
const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../../..");
const { runPage } = createRequire(import.meta.url)("../../programs/web/browser.js");

const args = process.argv.slice(2);
const one = args.at(-2) === "--one" && args.splice(-2)[1];
const [packages, folder, runtime, upstream] = args.map((name) => path.resolve(name));
const dist = path.join(packages, "node_modules/onnxruntime-web/dist");
const ours = path.join(root, "targets/web/npm/src");
const files = {
  "model.wasm": path.join(folder, "model.wasm"),
  "model.onnx": path.join(root, "tests/programs/relax/cnn/digits.onnx"),
  "onnxruntime.wasm": path.join(dist, "ort-wasm-simd-threaded.wasm"),
  "runtime.wasm": runtime,
  "upstream.wasm": upstream,
};
const modules = {
  ferrite: path.join(ours, "index.mjs"),
  onnxruntime: path.join(dist, "ort.wasm.min.mjs"),
  tvmjs: path.join(packages, "node_modules/@mlc-ai/web-runtime/lib/index.js"),
};

/** Measures in this process. */
function measure(name) {
  return MEASURES[name]({ read: async (file) => readFileSync(files[file]), load: (module_) => import(pathToFileURL(modules[module_])) });
}

function inNode(name) {
  return JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args, "--one", name], { encoding: "utf8" }));
}

function inChromium(name) {
  const served = { "page.html": path.join(here, "page.html"), "measures.mjs": path.join(here, "measures.mjs"), ...files };
  for (const file of readdirSync(ours)) served[`ferrite/${file}`] = path.join(ours, file);
  for (const file of ["ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs"]) served[`onnxruntime/${file}`] = path.join(dist, file);
  return runPage(packages, served, `measure("${name}")`);
}

/** Returns the best of each measurement of some runtimes. */
async function best(names, place) {
  const found = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; ++round) {
    for (const name of names) found[name].push(await place(name));
  }
  return names.map((name) => Object.fromEntries(
    Object.keys(found[name][0]).map((key) => [key, key === "scores" ? found[name][0][key] : Math.min(...found[name].map((all) => all[key]))])));
}

const zipped = (...all) => zlib.gzipSync(Buffer.concat(all.map((file) => readFileSync(file))), { level: 9 }).length;

function row(title, unit, scale, one, other) {
  const text = (value) => `${Number((value * scale).toPrecision(3)).toLocaleString("en")} ${unit}`;
  console.log(`| ${title} | ${text(one)} | ${text(other)} | ${(one / other).toFixed(3)} |`);
}

async function main() {
  console.log("| the digits | ferrite | onnxruntime-web | ratio |\n|---|---:|---:|---:|");
  const places = { Node: inNode, ...(existsSync("/usr/bin/chromium") && { Chromium: inChromium }) };
  for (const [place, run] of Object.entries(places)) {
    const [mine, theirs] = await best(["ferrite", "onnxruntime"], run);
    const most = Math.max(...mine.scores.map((score, at) => Math.abs(score - theirs.scores[at])));
    if (!(most < 1e-5)) throw new Error(`results differ by ${most}`);
    row(`start, first result, ${place}`, "ms", 1, mine.start, theirs.start);
    row(`inference, ${place}`, "us", 1e3, mine.inference, theirs.inference);
  }
  const code = (folder_, names) => names.map((name) => path.join(folder_, name));
  const [mine, theirs] = [zipped(files["model.wasm"]), zipped(files["onnxruntime.wasm"])];
  row("WebAssembly, gzip -9", "KB", 1e-3, mine, theirs);
  row("JavaScript, gzip -9", "KB", 1e-3, zipped(...code(ours, readdirSync(ours).filter((name) => name.endsWith(".mjs")))),
    zipped(...code(dist, ["ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs"])));
  if (!upstream) return;
  console.log("\n| the library and one function, under tvmjs in Node | ferrite | upstream | ratio |\n|---|---:|---:|---:|");
  const [first, second] = await best(["tvmjs", "upstream"], inNode);
  row("start", "ms", 1, first.start, second.start);
  const calls = inNode("calls");
  row("call of a compiled function", "ns", 1e6, calls.ferrite, calls.upstream);
  row("WebAssembly, gzip -9", "KB", 1e-3, zipped(runtime), zipped(upstream));
}

if (one) console.log(JSON.stringify(await measure(one)));
else await main();
