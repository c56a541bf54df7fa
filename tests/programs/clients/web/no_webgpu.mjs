// usage: node no_webgpu.mjs TVMJS FOLDER
//
// A model for WebGPU says that Node has none.
import assert from "node:assert";
import { load, tvmjs, wasm } from "./program.mjs";

await assert.rejects(load(tvmjs, { wasm }), { message: "This page has no WebGPU, which the model needs" });
