// Arrays in NumPy's format, and machines, for programs in Node and pages.
"use strict";

const ELEMENTS = {
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array], "<i8": ["int64", BigInt64Array],
  "<i4": ["int32", Int32Array], "|i1": ["int8", Int8Array], "|u1": ["uint8", Uint8Array], "|b1": ["bool", Uint8Array],
};

/** Converts the bytes of a file. */
function parseArray(bytes) {
  const start = 10 + bytes[8] + 256 * bytes[9];
  const header = String.fromCharCode(...bytes.subarray(10, start));
  const [dtype, View] = ELEMENTS[header.match(/'descr': '([^']*)'/)[1]];
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((n) => n.trim()).map(Number);
  return { dtype, shape, values: new View(bytes.slice(start).buffer) };
}

/** Returns the largest difference of an array from bytes. */
function difference(expected, bytes) {
  const View = expected.values.constructor;
  const values = new View(bytes.slice().buffer);
  if (values.length !== expected.values.length) return Infinity;
  return values.reduce((most, value, at) => Math.max(most, Math.abs(Number(value) - Number(expected.values[at]))), 0);
}

/** Makes a machine of the model in a system library; its weights are on a device of this type. */
function startMachine(tvm, prefix, deviceType) {
  const machine = tvm.getGlobalFunc("ffi.SystemLib")(prefix).getFunction("vm_load_executable")();
  machine.getFunction("vm_initialization")(...[deviceType, 0, 2, 1, 0, 2].map((number) => tvm.scalar(number, "int")));
  return machine;
}

if (typeof module !== "undefined") module.exports = { parseArray, difference, startMachine };
