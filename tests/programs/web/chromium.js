// usage: node chromium.js TVMJS MODULES
//
// Runs the cases of run.js in a page of Chromium and in a worker of the page. TVMJS is in the folder
// of the packages, MODULES has webgpu.wasm and fixtures.wasm.
"use strict";
const fs = require("fs");
const path = require("path");
const { runPage } = require("./browser.js");

const [, , runtime, modules] = process.argv;
const files = { "tvmjs.js": runtime };
for (const name of ["page.html", "run.js", "support.js", "webgpu_cases.js", "fixture_cases.js", "limit_cases.js"]) files[name] = path.join(__dirname, name);
for (const name of ["webgpu.wasm", "fixtures.wasm"]) files[name] = path.join(modules, name);
for (const folder of ["device/data", "relax/models/transformer"]) {
  const under = path.join(__dirname, "..", folder);
  for (const name of fs.readdirSync(under, { recursive: true })) files[path.posix.join(folder, name)] = path.join(under, name);
}

async function main() {
  for (const place of ["run", "runInWorker"]) {
    const { count, failures } = await runPage(path.dirname(runtime), files, `${place}()`);
    failures.forEach((failure) => console.log(`FAILED  ${place}: ${failure}`));
    console.log(`chromium, ${place}: ${count - failures.length} of ${count} tests passed`);
    if (failures.length || !count) process.exitCode = 1;
  }
}

main();
