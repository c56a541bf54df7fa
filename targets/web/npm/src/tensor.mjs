// Tensors of an instance, and arrays of JavaScript.
import { Device, HEADER } from "./instance.mjs";

/** Device types. */
export const CPU = 1;
export const WEBGPU = 15;

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
  if (Object.prototype.toString.call(array) !== `[object ${expected}]`) throw new TypeError(`The input ${name} is not a ${expected}`);
  const length = shape.reduce((product, extent) => product * extent, 1);
  if (array.length !== length) throw new RangeError(`The input ${name} has ${array.length} elements, not ${length}`);
}

/** Returns the bytes of an array. */
export const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Makes a tensor on a device. */
export function empty(instance, device, { shape, dtype }) {
  const extents = instance.global("ffi.Shape", ...shape);
  try {
    return instance.global("runtime.TVMTensorAllocWithScope", extents, dtype, new Device(device), undefined);
  } finally {
    extents.dispose();
  }
}

/** Reads the fields of a tensor: its device, address, and what an array needs. */
export function inspect({ instance, handle }) {
  const { view } = instance;
  const place = handle + HEADER;
  const [code, bits] = [view.getUint8(place + 16), view.getUint8(place + 17)];
  const extents = view.getUint32(place + 20, true);
  const shape = Array.from({ length: view.getInt32(place + 12, true) }, (_, at) => Number(view.getBigInt64(extents + 8 * at, true)));
  const dtype = CODES[code] === "bool" ? "bool" : `${CODES[code]}${bits}`;
  const size = shape.reduce((product, extent) => product * extent, Math.ceil(bits / 8));
  return { device: view.getInt32(place + 4, true), data: view.getUint32(place, true), offset: view.getUint32(place + 32, true), shape, dtype, size };
}

/** Returns an array over a copy of a tensor's bytes. */
export const asArray = (dtype, buffer) => new (ARRAYS[dtype] ?? Uint8Array)(buffer);
