// usage: node no_webgpu.mjs RUNTIME FOLDER
//
// A model for WebGPU says that Node has none.
import assert from "node:assert";
import { load } from "./program.mjs";

await assert.rejects(load(), { name: "NoWebGPUError", message: "This page has no WebGPU, which the model needs" });
