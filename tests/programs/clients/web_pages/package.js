// usage: node package.js PACKAGES FOLDER
//
// Runs package.mjs in a page of Chromium, with the models cpu, webgpu and halves in a folder.
"use strict";
const fs = require("fs");
const path = require("path");
const { runPage } = require("../../web/browser.js");

const [, , packages, folder] = process.argv;
const files = {};
for (const name of ["package.mjs", "policy.html", "policy.mjs"]) files[name] = path.join(__dirname, name);
files["page.html"] = path.join(__dirname, "package.html");
for (const name of ["cpu", "webgpu", "halves"]) files[`${name}.wasm`] = path.join(folder, name, "model.wasm");
for (const name of fs.readdirSync(path.join(folder, "cpu/ferrite"))) files[`ferrite/${name}`] = path.join(folder, "cpu/ferrite", name);
// A file whose type the server does not know, and one that ends early.
files["untyped.bin"] = files["cpu.wasm"];
files["damaged.wasm"] = path.join(folder, "damaged.wasm");
fs.writeFileSync(files["damaged.wasm"], fs.readFileSync(files["cpu.wasm"]).subarray(0, 100000));

runPage(packages, files).then(({ count, failures }) => {
  failures.forEach((failure) => console.log(`FAILED  ${failure}`));
  console.log(`package: ${count} tests in a page`);
  process.exitCode = failures.length ? 1 : 0;
});
