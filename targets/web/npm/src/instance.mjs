// An instance of the library: calls by the C ABI of TVM-FFI, whose values lie in the instance's memory.
import { ModelError, OutOfMemoryError } from "./errors.mjs";

/** Type indices of values. */
export const TYPE = { NONE: 0, INT: 1, BOOL: 2, FLOAT: 3, DEVICE: 6, RAW_STRING: 8, SMALL_STRING: 11, OBJECT: 64, STRING: 65, FUNCTION: 68, TENSOR: 70, ARRAY: 71 };

/** Bytes of a value: a type index, the length of a small string, and eight bytes. */
const VALUE = 16;
/** Bytes of an object's header. */
export const HEADER = 24;

/** An owned object. */
export class Ref {
  constructor(instance, handle, type) {
    this.instance = instance;
    this.handle = handle;
    this.type = type;
  }

  dispose() {
    if (this.handle && !this.instance.ended) this.instance.exports.TVMFFIObjectDecRef(this.handle);
    this.handle = 0;
  }
}

/** A device as an argument. */
export class Device {
  constructor(type) {
    this.type = type;
  }
}

export class Instance {
  static async start(module) {
    const instance = new Instance();
    try {
      const { exports } = await WebAssembly.instantiate(module, { env: instance.#imports() });
      instance.exports = exports;
    } catch (error) {
      if (error instanceof RangeError) throw new OutOfMemoryError(error.message, { cause: error });
      throw new ModelError("LinkError", `The module is not one of this version: ${error.message}`, { cause: error });
    }
    instance.#enter(() => instance.exports._initialize());
    return instance;
  }

  /** Error that ended the instance. */
  ended;
  #view;
  #bytes;
  #callbacks = [];
  #free = [];
  #functions = new Map();
  #thrown;
  #lastLine = "";

  get view() {
    this.#renew();
    return this.#view;
  }

  get bytes() {
    this.#renew();
    return this.#bytes;
  }

  /** Calls a global function, which is looked up once. */
  global(name, ...args) {
    let found = this.#functions.get(name);
    if (!found) this.#functions.set(name, (found = this.#lookUp(name)));
    return this.call(found, ...args);
  }

  /** Calls a function of a module. */
  method(module, name, ...args) {
    const found = this.lookUpIn(module, name);
    try {
      return this.call(found, ...args);
    } finally {
      found.dispose();
    }
  }

  lookUpIn(module, name) {
    const found = this.global("ffi.ModuleGetFunction", module, name, true);
    if (!found) throw new ModelError("AttributeError", `The module has no function ${name}`);
    return found;
  }

  /** Calls a function. Returns a number, a string, an owned `Ref`, or undefined for None. */
  call({ handle }, ...args) {
    const strings = args.map((arg) => (typeof arg === "string" ? new TextEncoder().encode(`${arg}\0`) : undefined));
    const count = VALUE * (args.length + 1);
    return this.#withBlock(strings.reduce((sum, string) => sum + (string?.length ?? 0), count), (block) => {
      let next = block + count;
      args.forEach((arg, at) => {
        this.#store(block + VALUE * (at + 1), arg, next);
        if (strings[at]) this.bytes.set(strings[at], next);
        next += strings[at]?.length ?? 0;
      });
      this.view.setInt32(block, TYPE.NONE, true);
      this.view.setBigInt64(block + 8, 0n, true);
      this.#check(() => this.exports.TVMFFIFunctionCall(handle, block + VALUE, args.length, block));
      return this.#take(block);
    });
  }

  /** Makes a function object of `(args) => number | Ref | undefined`; `number`, `string` and `object` read the arguments. */
  callback(body) {
    const index = this.#free.pop() ?? this.#callbacks.length + 1;
    this.#callbacks[index - 1] = body;
    const handle = this.#withBlock(4, (block) => {
      this.#check(() => this.exports.TVMFFIWasmFunctionCreate(index, block));
      return this.view.getUint32(block, true);
    });
    return new Ref(this, handle, TYPE.FUNCTION);
  }

  /** Makes a function a global one. */
  register(name, body) {
    const made = this.callback(body);
    this.#withName(name, (array) => this.#check(() => this.exports.TVMFFIFunctionSetGlobal(array, made.handle, 1)));
    made.dispose();
  }

  /** Reads an argument of a callback as a number; addresses are positive. */
  number(args, at) {
    const place = args + VALUE * at;
    const { view } = this;
    if (view.getInt32(place, true) === TYPE.FLOAT) return view.getFloat64(place + 8, true);
    return view.getInt32(place, true) === TYPE.INT ? Number(view.getBigInt64(place + 8, true)) : view.getUint32(place + 8, true);
  }

  string(args, at) {
    const place = args + VALUE * at;
    const type = this.view.getInt32(place, true);
    if (type === TYPE.SMALL_STRING) return this.#decode(place + 8, this.view.getUint32(place + 4, true));
    const address = this.view.getUint32(place + 8, true);
    if (type === TYPE.RAW_STRING) return this.#terminated(address);
    return this.#decode(this.view.getUint32(address + HEADER, true), this.view.getUint32(address + HEADER + 4, true));
  }

  /** Returns an object among the arguments of a callback, with a reference of the caller. */
  object(args, at) {
    const place = args + VALUE * at;
    const handle = this.view.getUint32(place + 8, true);
    this.exports.TVMFFIObjectIncRef(handle);
    return new Ref(this, handle, this.view.getInt32(place, true));
  }

  #imports() {
    return {
      TVMFFIWasmSafeCall: (index, args, count, result) => this.#callBack(index, args, count, result),
      TVMFFIWasmFunctionDeleter: (index) => {
        this.#callbacks[index - 1] = undefined;
        this.#free.push(index);
      },
      __console_log: (line) => {
        this.#lastLine = this.#terminated(line);
        console.warn(this.#lastLine);
      },
    };
  }

  /** Runs a callback. Exceptions do not cross WebAssembly, whose stack they would leave as it is. */
  #callBack(index, args, count, result) {
    try {
      this.#store(result, this.#callbacks[index - 1](args, count));
      return 0;
    } catch (error) {
      this.#thrown = error;
      this.#withTerminated("JSCallbackError", (kind) =>
        this.#withTerminated(String(error?.message), (message) => this.exports.TVMFFIErrorSetRaisedFromCStr(kind, message)));
      return -1;
    }
  }

  #lookUp(name) {
    const handle = this.#withName(name, (array) => {
      this.#check(() => this.exports.TVMFFIFunctionGetGlobal(array, array));
      return this.view.getUint32(array, true);
    });
    if (!handle) throw new ModelError("AttributeError", `The library has no function ${name}`);
    return new Ref(this, handle, TYPE.FUNCTION);
  }

  /** Runs a call whose status says whether an error is raised. */
  #check(body) {
    if (this.#enter(body) === 0) return;
    const [, kind, message] = /^(\w+): ([^]*)$/.exec(this.#terminated(this.exports.TVMFFIWasmGetLastError())) ?? [];
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (kind === "JSCallbackError" && thrown) throw thrown;
    throw kind === "MemoryError" ? new OutOfMemoryError(message) : new ModelError(kind, message);
  }

  /** Runs a call. A trap, such as a panic or an exhausted stack, ends the instance. */
  #enter(body) {
    if (this.ended) throw this.ended;
    try {
      return body();
    } catch (error) {
      this.ended = new ModelError("Trap", `The model ended: ${this.#lastLine || error.message}. Load it again`, { cause: error });
      throw this.ended;
    }
  }

  #withBlock(bytes, body) {
    const block = this.#enter(() => this.exports.TVMWasmAllocSpace(bytes));
    if (!block) throw new OutOfMemoryError(`There is no memory for ${bytes} bytes`);
    try {
      return body(block);
    } finally {
      if (!this.ended) this.exports.TVMWasmFreeSpace(block);
    }
  }

  #withTerminated(string, body) {
    const encoded = new TextEncoder().encode(`${string}\0`);
    return this.#withBlock(encoded.length, (block) => {
      this.bytes.set(encoded, block);
      return body(block, encoded.length - 1);
    });
  }

  /** Passes a string as a byte array. */
  #withName(name, body) {
    return this.#withTerminated(name, (block, length) => this.#withBlock(8, (array) => {
      this.view.setUint32(array, block, true);
      this.view.setUint32(array + 4, length, true);
      return body(array);
    }));
  }

  /** Stores a value; an object as a reference. */
  #store(place, value, string) {
    const { view } = this;
    const set = (type, low, high = 0) => {
      view.setInt32(place, type, true);
      view.setInt32(place + 4, 0, true);
      view.setUint32(place + 8, low, true);
      view.setInt32(place + 12, high, true);
    };
    if (value === undefined || value === null) set(TYPE.NONE, 0);
    else if (typeof value === "boolean") set(TYPE.BOOL, Number(value));
    else if (typeof value === "string") set(TYPE.RAW_STRING, string);
    else if (value instanceof Ref) set(value.type, value.handle);
    else if (value instanceof Device) set(TYPE.DEVICE, value.type);
    else set(TYPE.INT, value, Math.floor(value / 2 ** 32));
  }

  /** Takes the value of a result. */
  #take(place) {
    const type = this.view.getInt32(place, true);
    if (type === TYPE.NONE) return undefined;
    if (type === TYPE.SMALL_STRING) return this.string(place, 0);
    if (type < TYPE.OBJECT) return this.number(place, 0);
    const owned = new Ref(this, this.view.getUint32(place + 8, true), type);
    if (type !== TYPE.STRING) return owned;
    const string = this.string(place, 0);
    owned.dispose();
    return string;
  }

  #decode(address, length) {
    return new TextDecoder().decode(this.bytes.subarray(address, address + length));
  }

  #terminated(address) {
    return this.#decode(address, this.bytes.indexOf(0, address) - address);
  }

  /** Memory that has grown has a new buffer. */
  #renew() {
    const { buffer } = this.exports.memory;
    if (this.#view?.buffer === buffer) return;
    this.#view = new DataView(buffer);
    this.#bytes = new Uint8Array(buffer);
  }
}
