// usage: node chromium.js TVMJS WASM
//
// Runs webgpu_cases.js in a page of Chromium. TVMJS is in the folder of the packages.
"use strict";
const path = require("path");
const { runPage } = require("./browser.js");

const [, , runtime, wasm] = process.argv;
const here = (name) => path.join(__dirname, name);
const files = { "page.html": here("page.html"), "webgpu_cases.js": here("webgpu_cases.js"), "tvmjs.js": runtime, "module.wasm": wasm };

runPage(path.dirname(runtime), files).then(({ count, failures }) => {
  failures.forEach((failure) => console.log(`FAILED  ${failure}`));
  console.log(`chromium: ${count} tests`);
  process.exitCode = failures.length ? 1 : 0;
});
