// WebAssembly modules from addresses, responses and bytes.
import { ModelError } from "./errors.mjs";

const SECTION = "ferrite.model";

/** Compiles a source; a response while it downloads. */
export async function compile(source, signal) {
  const found = await open(await source, signal);
  try {
    return await compileOpened(found);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new ModelError("CompileError", `The model is damaged: ${error.message}`, { cause: error });
  }
}

async function open(source, signal) {
  if (typeof source !== "string" && !(source instanceof URL)) return source;
  // Node's `fetch` does not read files. Browsers lack the function, and bundlers do not see an import.
  const files = String(source).startsWith("file:") && globalThis.process?.getBuiltinModule?.("fs/promises");
  return files ? files.readFile(new URL(source), { signal }) : fetch(source, { signal });
}

async function compileOpened(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new ModelError("NetworkError", `${source.url}: ${source.status} ${source.statusText}`);
  // Servers that do not know the type send another one, which the browser refuses to compile while it downloads.
  if (source.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(source);
  return WebAssembly.compile(await source.arrayBuffer());
}

/** Returns the description of the model in a module: its device, and its functions with inputs and outputs. */
export function describe(module) {
  const [section] = WebAssembly.Module.customSections(module, SECTION);
  if (!section) throw new ModelError("ModelError", "The module has no model: make it by `ferrite model --target web`");
  return JSON.parse(new TextDecoder().decode(section));
}
