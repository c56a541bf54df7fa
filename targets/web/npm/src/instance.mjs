// An instance of the library: calls by the C ABI of TVM-FFI, whose values lie in the instance's memory.
import { ModelError, OutOfMemoryError } from "./errors.mjs";

/** Type indices of values. */
const NONE = 0;
const INT = 1;
const FLOAT = 3;
const RAW_STRING = 8;
const SMALL_STRING = 11;
const OBJECT = 64;
const STRING = 65;
const FUNCTION = 68;
export const TENSOR = 70;
export const ARRAY = 71;

/** Bytes of a value: a type index, the length of a small string, and eight bytes. */
const VALUE = 16;
/** Bytes of an object's header. */
const HEADER = 24;

/** An owned object. */
export class Ref {
  constructor(instance, handle, type) {
    this.instance = instance;
    this.handle = handle;
    this.type = type;
  }

  /** Address of the fields. */
  get fields() {
    return this.handle + HEADER;
  }

  clone() {
    this.instance.exports.TVMFFIObjectIncRef(this.handle);
    return new Ref(this.instance, this.handle, this.type);
  }

  dispose() {
    if (!this.instance.ended) this.instance.exports.TVMFFIObjectDecRef(this.handle);
  }
}

export class Instance {
  static async start(module) {
    const instance = new Instance();
    try {
      ({ exports: instance.exports } = await WebAssembly.instantiate(module, { env: instance.#imports() }));
    } catch (error) {
      if (error instanceof RangeError) throw new OutOfMemoryError(error.message);
      throw new ModelError("LinkError", error.message, { cause: error });
    }
    instance.#enter(() => instance.exports._initialize());
    return instance;
  }

  /** Error that ended the instance. */
  ended;
  #view;
  #strings = new Map();
  #functions = new Map();
  #callbacks = [];
  #free = [];
  #thrown;
  #lastLine = "";

  /** View of the memory, which has another buffer when it has grown. */
  get view() {
    const { buffer } = this.exports.memory;
    if (this.#view?.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }

  bytes(address, length) {
    return new Uint8Array(this.view.buffer, address, length);
  }

  word(address) {
    return this.view.getUint32(address, true);
  }

  /** Calls a global function, which is looked up once. */
  global(name, ...args) {
    if (!this.#functions.has(name)) this.#functions.set(name, this.#lookUp(name));
    return this.call(this.#functions.get(name), ...args);
  }

  /** Returns a function of a module, or undefined. */
  find(module, name) {
    return this.global("ffi.ModuleGetFunction", module, name, 1);
  }

  /** Calls a function of a module. */
  method(module, name, ...args) {
    const found = this.find(module, name);
    const result = this.call(found, ...args);
    found.dispose();
    return result;
  }

  /** Calls a function. Returns a number, a string, an owned `Ref`, or undefined for None. */
  call({ handle }, ...args) {
    return this.#withBlock(VALUE * (args.length + 1), (block) => {
      this.#store(block);
      args.forEach((arg, at) => this.#store(block + VALUE * (at + 1), arg));
      this.#check(() => this.exports.TVMFFIFunctionCall(handle, block + VALUE, args.length, block));
      return this.#take(block);
    });
  }

  /** Makes a function object of a function that takes numbers. */
  numeric(body) {
    return this.callback((args, count) => body(...Array.from({ length: count }, (_, at) => this.number(args, at))));
  }

  /** Makes a function object of `(args, count) => value`; `number`, `string` and `object` read the arguments. */
  callback(body) {
    const index = this.#free.pop() ?? this.#callbacks.length + 1;
    this.#callbacks[index - 1] = body;
    return this.#made((out) => this.exports.TVMFFIWasmFunctionCreate(index, out));
  }

  /** Makes a function a global one. */
  register(name, body) {
    const made = this.callback(body);
    this.#withName(name, (array) => this.#check(() => this.exports.TVMFFIFunctionSetGlobal(array, made.handle, 1)));
    made.dispose();
  }

  /** Reads a value as a number: an argument of a callback. */
  number(values, at) {
    const place = values + VALUE * at;
    const type = this.word(place);
    if (type === FLOAT) return this.view.getFloat64(place + 8, true);
    return this.word(place + 8) + (type === INT ? this.view.getInt32(place + 12, true) * 2 ** 32 : 0);
  }

  string(values, at) {
    const place = values + VALUE * at;
    if (this.word(place) === SMALL_STRING) return this.#decode(place + 8, this.word(place + 4));
    const fields = this.word(place + 8) + HEADER;
    return this.#decode(this.word(fields), this.word(fields + 4));
  }

  /** Returns an object with a reference of the caller. */
  object(values, at) {
    const place = values + VALUE * at;
    return new Ref(this, this.word(place + 8), this.word(place)).clone();
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
      const kind = this.#intern("JSCallbackError");
      this.exports.TVMFFIErrorSetRaisedFromCStr(kind, kind);
      return -1;
    }
  }

  #lookUp(name) {
    const found = this.#made((out) => this.#withName(name, (array) => this.exports.TVMFFIFunctionGetGlobal(array, out)));
    if (!found.handle) throw new ModelError("AttributeError", `The library has no function ${name}`);
    return found;
  }

  /** Returns the function that a call stores. */
  #made(body) {
    return this.#withBlock(4, (out) => {
      this.#check(() => body(out));
      return new Ref(this, this.word(out), FUNCTION);
    });
  }

  /** Runs a call whose status says whether an error is raised. */
  #check(body) {
    if (this.#enter(body) === 0) return;
    const text = this.#terminated(this.exports.TVMFFIWasmGetLastError());
    const [, kind, message] = /^(\w+): ([^]*)$/.exec(text) ?? [text, "Error", text];
    // The error of a callback, in place of the library's.
    if (kind === "JSCallbackError") throw this.#thrown;
    throw kind === "MemoryError" ? new OutOfMemoryError(message) : new ModelError(kind, message);
  }

  /** Runs a call. A trap, such as a panic or an exhausted stack, ends the instance. */
  #enter(body) {
    if (this.ended) throw this.ended;
    try {
      return body();
    } catch (error) {
      this.ended = new ModelError("Trap", `The model ended: ${this.#lastLine || error.message}`, { cause: error });
      throw this.ended;
    }
  }

  #allocate(bytes) {
    const block = this.#enter(() => this.exports.TVMWasmAllocSpace(bytes));
    if (!block) throw new OutOfMemoryError(`Memory has no space for ${bytes} bytes`);
    return block;
  }

  #withBlock(bytes, body) {
    const block = this.#allocate(bytes);
    try {
      return body(block);
    } finally {
      if (!this.ended) this.exports.TVMWasmFreeSpace(block);
    }
  }

  /** Passes a name as a byte array. */
  #withName(name, body) {
    return this.#withBlock(8, (array) => {
      this.#write(array, this.#intern(name), name.length);
      return body(array);
    });
  }

  /** Returns the address of a zero-terminated string: a name of the library or the model, which stays. */
  #intern(string) {
    let address = this.#strings.get(string);
    if (!address) {
      const encoded = new TextEncoder().encode(`${string}\0`);
      address = this.#allocate(encoded.length);
      this.bytes(address, encoded.length).set(encoded);
      this.#strings.set(string, address);
    }
    return address;
  }

  #write(address, ...words) {
    words.forEach((word, at) => this.view.setUint32(address + 4 * at, word, true));
  }

  /** Stores a value: an integer, a string, an object or a device with its type, or None. */
  #store(place, value) {
    if (typeof value === "number") this.#write(place, INT, 0, value, Math.floor(value / 2 ** 32));
    else if (typeof value === "string") this.#write(place, RAW_STRING, 0, this.#intern(value), 0);
    else this.#write(place, value?.type ?? NONE, 0, value?.handle ?? 0, 0);
  }

  /** Takes the value of a result. */
  #take(place) {
    const type = this.word(place);
    if (type === NONE) return undefined;
    if (type === SMALL_STRING) return this.string(place, 0);
    if (type < OBJECT) return this.number(place, 0);
    const owned = new Ref(this, this.word(place + 8), type);
    if (type !== STRING) return owned;
    const string = this.string(place, 0);
    owned.dispose();
    return string;
  }

  #decode(address, length) {
    return new TextDecoder().decode(this.bytes(address, length));
  }

  #terminated(address) {
    return this.#decode(address, this.bytes(address).indexOf(0));
  }
}
