// usage: node bundles.mjs WORK WASM
//
// Builds page.mjs by bundlers in the folder WORK, whose node_modules have them and the package, and runs the result in Node.
// A warning is a failure, and so is a bundle that needs anything of Node.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [work, wasm] = process.argv.slice(2).map((name) => path.resolve(name));
const { resolve } = createRequire(path.join(work, "package.json"));
const load = async (name) => import(pathToFileURL(resolve(name)));
const entry = path.join(work, "page.mjs");
const tool = (name, ...args) => execFileSync(path.join(work, "node_modules/.bin", name), args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const refuse = (warning) => { throw new Error(`a warning: ${warning.message ?? warning}`); };
/** Limit of the package's JavaScript, minified and compressed, without the part that `profile` loads. */
const PACKAGE_BYTES = 6144;

const BUNDLERS = {
  async esbuild(folder) {
    const { build } = await load("esbuild");
    const { warnings } = await build({ entryPoints: [entry], outdir: folder, bundle: true, splitting: true, format: "esm", outExtension: { ".js": ".mjs" }, logLevel: "silent" });
    warnings.forEach((warning) => refuse(warning.text));
  },
  async rollup(folder) {
    const [{ rollup }, { default: nodeResolve }] = [await load("rollup"), await load("@rollup/plugin-node-resolve")];
    const bundle = await rollup({ input: entry, plugins: [nodeResolve({ browser: true })], onwarn: refuse });
    await bundle.write({ dir: folder, entryFileNames: "page.mjs", chunkFileNames: "[name].mjs" });
  },
  async vite(folder) {
    const { build, createLogger } = await load("vite");
    const customLogger = Object.assign(createLogger("silent"), { warn: refuse, warnOnce: refuse, error: refuse });
    const output = { entryFileNames: "page.mjs" };
    // Without modulePreload's helper, which needs a document, the bundle runs in Node, too.
    await build({ root: work, configFile: false, customLogger, build: { outDir: folder, modulePreload: false, rollupOptions: { input: entry, preserveEntrySignatures: "strict", output } } });
  },
  async webpack(folder) {
    const { default: webpack } = await load("webpack");
    const output = { path: folder, filename: "page.mjs", chunkFilename: "[id].mjs", publicPath: "./", library: { type: "module" }, module: true, chunkFormat: "module" };
    const stats = await new Promise((done, fail) => {
      webpack({ entry, mode: "production", target: ["web", "es2022"], output, experiments: { outputModule: true } }, (error, result) => (error ? fail(error) : done(result)));
    });
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    [...errors, ...warnings].forEach(refuse);
  },
  async bun(folder) {
    const output = tool("bun", "build", "--target=browser", "--splitting", "--entry-naming=page.mjs", `--outdir=${folder}`, entry);
    assert.doesNotMatch(output, /warn/i);
  },
};

/** Checks that a bundle needs nothing of Node, and that it runs. */
async function checkBundle(name, folder) {
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.m?js$/.test(file)) continue;
    const text = await readFile(path.join(folder, file), "utf8");
    assert.doesNotMatch(text, /\bfrom\s*["']node:|\brequire\(["']/, `${name}: ${file}`);
  }
  const { sum } = await import(pathToFileURL(path.join(folder, "page.mjs")));
  assert.deepStrictEqual(await sum(await readFile(wasm)), [2, 3, 4, 5]);
}

/** Bundles TVM's runtime, whose requires of Node's modules are replaced. */
async function bundleTvmjs() {
  const { build } = await load("esbuild");
  const contents = 'import * as tvmjs from "@mlc-ai/web-runtime"; import { load } from "@ferrite/web/tvmjs"; export const start = (source) => load(tvmjs, source);';
  const alias = Object.fromEntries(["crypto", "fs", "path", "perf_hooks", "ws"].map((name) => [name, "@ferrite/web/absent"]));
  const { warnings } = await build({ absWorkingDir: work, stdin: { contents, resolveDir: work }, bundle: true, format: "esm", write: false, alias, logLevel: "silent" });
  warnings.forEach((warning) => refuse(warning.text));
}

async function measure() {
  const { build } = await load("esbuild");
  const { outputFiles } = await build({ entryPoints: [resolve("@ferrite/web")], bundle: true, splitting: true, minify: true, format: "esm", outdir: "measured", write: false });
  const [bytes, profile] = [(name) => !name.includes("profile"), (name) => name.includes("profile")].map((chosen) => outputFiles.filter((file) => chosen(path.basename(file.path))).reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0));
  console.log(`package: ${bytes} bytes by gzip -9, and ${profile} that \`profile\` loads`);
  assert.ok(bytes <= PACKAGE_BYTES, `${bytes} bytes, more than ${PACKAGE_BYTES}`);
}

for (const [name, build] of Object.entries(BUNDLERS)) {
  const folder = path.join(work, "bundles", name);
  await build(folder);
  await checkBundle(name, folder);
  console.log(`${name}: built without a warning`);
}
await bundleTvmjs();
await measure();
for (const [name, ...args] of [["deno", "run", "--allow-read"], ["bun", "run"]]) {
  assert.match(tool(name, ...args, path.join(work, "run.mjs"), pathToFileURL(wasm).href), /^2,3,4,5\n/);
  console.log(`${name}: runs the model`);
}
