// Pages of headless Chromium with WebGPU on the CPU (SwiftShader), which this process serves.
"use strict";
const fs = require("fs");
const http = require("http");
const path = require("path");
const { createRequire } = require("module");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
const OPTIONS = [
  "--no-sandbox", "--enable-unsafe-webgpu", "--enable-features=Vulkan", "--use-webgpu-adapter=swiftshader",
  "--use-vulkan=swiftshader", "--disable-vulkan-surface",
];

/** Serves `files`, paths by their names in the page's address. */
function serve(files) {
  const server = http.createServer(({ url }, response) => {
    const file = files[url.slice(1)];
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" });
    return response.end(fs.readFileSync(file));
  });
  return new Promise((resolve) => { server.listen(0, "127.0.0.1", () => resolve(server)); });
}

/** Opens the page `page.html` of `files`, and returns the result of `body`, which gets it. playwright-core is in `packages`. */
async function withPage(packages, files, body, options = OPTIONS) {
  const { chromium } = createRequire(path.resolve(packages, "package.json"))("playwright-core");
  const server = await serve(files);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: options });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.log(`page: ${error.message}`));
    await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
    return await body(page);
  } finally {
    await browser.close();
    server.close();
  }
}

/** Opens the page, and returns the result of an expression there. */
function runPage(packages, files, expression = "run()") {
  return withPage(packages, files, (page) => page.evaluate(expression));
}

module.exports = { OPTIONS, runPage, withPage };
