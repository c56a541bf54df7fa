// usage: node pages.js TVMJS FOLDER PICTURES LABELS
//
// Classifies pictures by the model in a folder, in a page of Chromium and in a worker.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { runPage } = require("../../web/browser.js");

const [, , runtime, folder, pictures, labels] = process.argv;
const files = {
  "page.html": path.join(__dirname, "page.html"),
  "classify.mjs": path.join(__dirname, "classify.mjs"),
  "tvmjs.js": runtime,
  "model.mjs": path.join(folder, "model.mjs"),
  "model.wasm": path.join(folder, "model.wasm"),
  "pictures.json": pictures,
};
for (const name of fs.readdirSync(path.join(folder, "ferrite"))) files[`ferrite/${name}`] = path.join(folder, "ferrite", name);

runPage(path.dirname(runtime), files).then((found) => {
  const expected = require(path.resolve(labels));
  assert.deepStrictEqual(found, Array(8).fill(expected));
  console.log(`${expected.length} of ${expected.length} digits right in a page and in a worker`);
});
