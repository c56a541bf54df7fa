// usage: node web_llm.js PACKAGES FOLDER EXPECTED
//
// Talks by WebLLM with the model in a folder: its replies are those of a host, also when the page is
// opened again and the server has nothing but the page and WebLLM.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { withPage } = require("../../web/browser.js");

const [, , packages, folder, expected] = process.argv;
const { greedy, penalties, penalised } = JSON.parse(fs.readFileSync(expected));
const PAGE = {
  "page.html": path.join(__dirname, "web_llm.html"),
  "web-llm.js": path.join(packages, "node_modules/@mlc-ai/web-llm/lib/index.js"),
};
const model = Object.fromEntries(fs.readdirSync(folder).map((name) => [`model/${name}`, path.join(folder, name)]));
const [[prompt, text]] = Object.entries(greedy);

function request(content, max_tokens, options) {
  return { messages: [{ role: "user", content }], temperature: 0, max_tokens, ignore_eos: true, ...options };
}

const GREEDY = Object.entries(greedy).map(([content, reply]) => request(content, reply.length));
const GRAMMAR = { type: "grammar", grammar: 'root ::= "yes" | "no"' };
const SAMPLED = request(prompt, 8, { temperature: 1, seed: 7 });
/** Requests for the functions that change logits, and for those that choose a token. */
const CHOICES = [
  // The first of the sorted probabilities alone reaches the sum.
  request(prompt, 8, { temperature: 1, top_p: 1e-5 }),
  request(prompt, penalised.length, penalties),
  request(prompt, 4, { logit_bias: { 65: 100 } }),
  request(prompt, 4, { ignore_eos: false, response_format: GRAMMAR }),
  SAMPLED,
  SAMPLED,
];

/** Returns the replies to requests, which are streamed. */
async function talk(page, requests) {
  const replies = await page.evaluate((all) => run(all), requests);
  replies.forEach((pieces) => assert.ok(pieces.length > 2, "a reply is not streamed"));
  return replies.map((pieces) => pieces.join(""));
}

function checkChoices([certain, lowered, biased, chosen, sampled, again]) {
  assert.strictEqual(certain, text.slice(0, 8));
  assert.strictEqual(lowered, penalised);
  assert.strictEqual(biased, "AAAA");
  assert.match(chosen, /^(yes|no)$/);
  assert.strictEqual(sampled, again);
  assert.notStrictEqual(sampled, certain);
}

/** Returns the message of the error that loading and a request end with. */
function failure(page, changes) {
  return page.evaluate(([one, record]) => run([one], record).then(() => "no error", String), [SAMPLED, changes]);
}

async function check() {
  const files = { ...PAGE, ...model };
  await withPage(packages, files, async (page) => {
    assert.deepStrictEqual(await talk(page, GREEDY), Object.values(greedy));
    for (const name of Object.keys(model)) delete files[name];
    await page.reload();
    const [reply, ...choices] = await talk(page, [GREEDY[0], ...CHOICES]);
    assert.strictEqual(reply, text);
    checkChoices(choices);
    assert.match(await failure(page, { overrides: { context_window_size: 5_000_000 } }), /DeviceLostError.*memory/);
  });
  const withoutWebGPU = await withPage(packages, { ...PAGE, ...model }, (page) => failure(page, {}), ["--no-sandbox"]);
  assert.match(withoutWebGPU, /compatible GPU|WebGPU is not supported/);
  console.log(Object.entries(greedy).map((pair) => pair.join("")).join("\n"));
}

check();
