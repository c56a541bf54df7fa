// Tensors of an instance, and arrays of JavaScript.
/** Device types. */
export const CPU = 1;
export const WEBGPU = 15;
/** Type index of devices. */
const DEVICE = 6;

/** Arrays by element type; halves are their bits. */
const ARRAYS = {
  float64: Float64Array, float32: Float32Array, float16: Uint16Array, bfloat16: Uint16Array,
  int64: BigInt64Array, int32: Int32Array, int16: Int16Array, int8: Int8Array,
  uint64: BigUint64Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array, bool: Uint8Array,
};
const CODES = ["int", "uint", "float", "handle", "bfloat", "complex", "bool"];

/** Checks an array of an input. */
export function checkArray({ name, dtype, shape }, array) {
  const expected = ARRAYS[dtype].name;
  // Arrays of other realms, such as frames and test runners, have other classes.
  if (array?.[Symbol.toStringTag] !== expected) throw new TypeError(`The input ${name} is not a ${expected}`);
  const length = shape.reduce((product, extent) => product * extent, 1);
  if (array.length !== length) throw new RangeError(`The input ${name} has ${array.length} elements, not ${length}`);
}

/** Returns the bytes of an array. */
export const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Makes a tensor on a device. */
export function empty(instance, device, { shape, dtype }) {
  const extents = instance.global("ffi.Shape", ...shape);
  const tensor = instance.global("runtime.TVMTensorAllocWithScope", extents, dtype, { type: DEVICE, handle: device }, undefined);
  extents.dispose();
  return tensor;
}

/** Reads the fields of a tensor: device, address, offset, element type, shape, and size in bytes. */
export function inspect({ instance, fields }) {
  const [data, device, , rank, type, extents, , , offset] = Array.from({ length: 9 }, (_, at) => instance.word(fields + 4 * at));
  const shape = Array.from({ length: rank }, (_, at) => instance.word(extents + 8 * at));
  const [code, bits] = [CODES[type & 255], (type >> 8) & 255];
  const size = shape.reduce((product, extent) => product * extent, bits / 8);
  return { data, device, offset, dtype: code === "bool" ? code : code + bits, shape, size };
}

/** Returns an array over a copy of a tensor's bytes. */
export const asArray = (dtype, buffer) => new (ARRAYS[dtype] ?? Uint8Array)(buffer);

/** Returns results by name: `output`, or `output0` and so on for those of a tuple, if the model has no names. */
export function named({ outputs }, result) {
  const isTuple = Array.isArray(result);
  return Object.fromEntries((isTuple ? result : [result]).map((value, at) => [outputs?.[at]?.name ?? (isTuple ? `output${at}` : "output"), value]));
}
