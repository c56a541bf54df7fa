// usage: node people.js PACKAGES ADDRESS [PICTURE]
//
// Uses the page of targets/web/page as people do: draws digits and lets the language model type, by mouse, finger and
// keyboard, on the CPU and WebGPU, online and offline. PACKAGES has playwright-core and axe-core. PICTURE is written.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");
const { OPTIONS } = require("../../web/browser.js");

const [, , packages, address, picture] = process.argv;
const load = createRequire(path.resolve(packages, "package.json"));
const { chromium } = load("playwright-core");
const axe = fs.readFileSync(load.resolve("axe-core"), "utf8");

/** Strokes of digits in percent of the drawing area. */
const DIGITS = {
  0: [[50, 15], [35, 20], [27, 35], [25, 50], [28, 68], [38, 82], [50, 86], [63, 82], [72, 66], [75, 50], [72, 33], [63, 20], [50, 15]],
  1: [[50, 12], [50, 40], [50, 65], [50, 88]],
  4: [[60, 12], [45, 35], [25, 62], [50, 62], [80, 62]],
  7: [[25, 15], [50, 15], [76, 15], [62, 45], [50, 68], [42, 88]],
};
const SECOND_STROKES = { 4: [[63, 40], [63, 65], [63, 90]] };
const strokes = (digit) => [DIGITS[digit], SECOND_STROKES[digit]].filter(Boolean);

/** Pen of the keyboard in percent of the drawing area, when the page opens, and how far an arrow moves it. */
const PEN = { x: 50, y: 20 };
const STEP = 4;

/** Yields the arrows that move the pen next to a point, along a line. */
function* arrows(pen, [x, y]) {
  const left = { x: Math.round((x - pen.x) / STEP), y: Math.round((y - pen.y) / STEP) };
  const all = { x: Math.abs(left.x), y: Math.abs(left.y) };
  while (left.x || left.y) {
    const axis = Math.abs(left.x) * all.y > Math.abs(left.y) * all.x ? "x" : left.y ? "y" : "x";
    const sign = Math.sign(left[axis]);
    left[axis] -= sign;
    pen[axis] += sign * STEP;
    yield `Arrow${axis === "x" ? (sign < 0 ? "Left" : "Right") : sign < 0 ? "Up" : "Down"}`;
  }
}

/** Devices of a finger and of a mouse. */
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
const desk = { viewport: { width: 1200, height: 760 } };

class Visit {
  static async start(browser, options, script) {
    const context = await browser.newContext(options);
    if (script) await context.addInitScript(script);
    const visit = new Visit(context, await context.newPage());
    await visit.open();
    return visit;
  }

  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.problems = [];
    context.on("request", (request) => {
      if (!request.url().startsWith(address) && !request.url().startsWith("data:")) this.problems.push(`request to ${request.url()}`);
    });
    page.on("pageerror", (error) => this.problems.push(`page: ${error.stack}`));
    page.on("console", (line) => line.type() === "error" && this.problems.push(`console: ${line.text()}`));
  }

  async open() {
    this.pen = { ...PEN };
    await this.page.goto(address);
    await this.isOn("cpu");
  }

  isOn(device) {
    return this.page.waitForSelector(`body[data-device=${device}]`);
  }

  async select(device) {
    await this.page.locator("#devices label", { hasText: new RegExp(device, "i") }).click();
    await this.isOn(device);
  }

  /** Puts a pointer through the strokes; each point is `[x, y]` on the page. */
  async draw(pointer, digit) {
    await this.page.locator("#clear").click();
    const pad = this.page.locator("#pad");
    await pad.scrollIntoViewIfNeeded();
    const box = await pad.boundingBox();
    for (const stroke of strokes(digit)) {
      const points = stroke.map(([x, y]) => [box.x + (x / 100) * box.width, box.y + (y / 100) * box.height]);
      await pointer(points, () => this.barsMoved());
    }
    await this.answers(digit);
  }

  answers(digit) {
    return this.page.waitForFunction((text) => document.getElementById("digit").textContent === text, `This is a ${digit}`, { timeout: 5000 });
  }

  barsMoved() {
    return this.page.waitForFunction(() => document.querySelector("#bars [role=meter]:not([aria-valuenow='0'])"));
  }

  async mouse(points, between) {
    const { mouse } = this.page;
    await mouse.move(...points[0]);
    await mouse.down();
    for (const point of points.slice(1)) await mouse.move(...point, { steps: 5 });
    await between();
    await mouse.up();
  }

  async finger(points, between) {
    this.touches ??= await this.context.newCDPSession(this.page);
    const touch = (type, point) => this.touches.send("Input.dispatchTouchEvent", { type, touchPoints: point ? [{ x: point[0], y: point[1] }] : [] });
    await touch("touchStart", points[0]);
    for (const point of points.slice(1)) await touch("touchMove", point);
    await between();
    await touch("touchEnd");
  }

  /** Taps the button that starts and stops the model. Headless Chromium makes no click of some taps that follow strokes. */
  async tap() {
    const button = this.page.locator("#write");
    const label = await button.textContent();
    for (let count = 0; count < 5; count += 1) {
      await button.tap();
      const changed = this.page.waitForFunction((old) => document.getElementById("write").textContent !== old, label, { timeout: 2000 });
      if (await changed.catch(() => false)) return;
    }
    assert.fail("the button does nothing");
  }

  /** Draws a digit by the keys alone: arrows move the pen, and the space bar puts it down and lifts it. */
  async keys(digit) {
    const { keyboard } = this.page;
    await this.page.locator("#pad").focus();
    await keyboard.press("Escape");
    const { pen } = this;
    for (const [first, ...rest] of strokes(digit)) {
      for (const key of arrows(pen, first)) await keyboard.press(key);
      await keyboard.press("Space");
      for (const point of rest) for (const key of arrows(pen, point)) await keyboard.press(key);
      await this.barsMoved();
      await keyboard.press("Space");
    }
    await this.answers(digit);
    await keyboard.press("Escape");
    await this.page.waitForFunction(() => document.getElementById("digit").textContent === "");
  }

  /** Lets the model write by `press`, checks that each change of the text adds one character, and stops it. */
  async write(press) {
    await this.page.evaluate(() => {
      const text = document.getElementById("text");
      window.observer?.disconnect();
      window.lengths = [];
      window.observer = new MutationObserver((changes) => changes.filter(({ type }) => type === "characterData").forEach(() => window.lengths.push(text.textContent.length)));
      window.observer.observe(text, { characterData: true, subtree: true });
    });
    await press();
    await this.page.waitForFunction(() => window.lengths.length >= 50);
    assert.match(await this.page.locator("#letters-speed").textContent(), /^\d+ characters per second, \d+\.\d\d ms each$/);
    await press();
    await this.page.waitForSelector("#text:not(.writing)");
    const lengths = await this.page.evaluate(() => window.lengths);
    lengths.forEach((length, at) => assert.strictEqual(length, lengths[0] + at));
    const text = await this.page.locator("#text").textContent();
    assert.strictEqual(text.length, lengths.at(-1));
    assert.match(text, /^The library .*[a-z]{2}/s);
    await this.page.waitForTimeout(100);
    assert.strictEqual(await this.page.locator("#text").textContent(), text, "the model writes after it was stopped");
  }

  async writePicture() {
    await this.page.locator("#write").click();
    await this.page.waitForFunction(() => document.getElementById("text").textContent.length > 320);
    const session = await this.context.newCDPSession(this.page);
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
    fs.writeFileSync(picture, Buffer.from(data, "base64"));
    await this.page.locator("#write").click();
  }

  async end() {
    assert.deepStrictEqual(this.problems, []);
    await this.context.close();
  }
}

async function allByMouse(visit) {
  for (const digit of Object.keys(DIGITS)) await visit.draw((...stroke) => visit.mouse(...stroke), digit);
  assert.match(await visit.page.locator("#digit-time").textContent(), /^\d+\.\d\d ms an inference$/);
  await visit.write(() => visit.page.locator("#write").click());
}

async function byKeyboard(visit) {
  for (const digit of Object.keys(DIGITS)) await visit.keys(digit);
  await visit.page.locator("#write").focus();
  await visit.write(() => visit.page.keyboard.press("Enter"));
}

const cases = {
  async "digits and letters by mouse on the CPU"(browser) {
    const visit = await Visit.start(browser, desk);
    await allByMouse(visit);
    await visit.end();
  },

  async "digits and letters by keyboard"(browser) {
    const visit = await Visit.start(browser, desk);
    await byKeyboard(visit);
    await visit.end();
  },

  async "digits and letters by finger on a phone"(browser) {
    const visit = await Visit.start(browser, phone);
    const { page } = visit;
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than a phone");
    for (const digit of Object.keys(DIGITS)) await visit.draw((...stroke) => visit.finger(...stroke), digit);
    await visit.write(() => visit.tap());
    await visit.end();
  },

  async "the page opens offline, twice"(browser) {
    const visit = await Visit.start(browser, desk);
    await visit.page.evaluate(async () => (await navigator.serviceWorker.ready).active.state);
    await visit.page.waitForFunction(() => navigator.serviceWorker.controller);
    await visit.context.setOffline(true);
    for (let count = 0; count < 2; count += 1) {
      await visit.open();
      await allByMouse(visit);
    }
    await visit.end();
  },

  async "labels, roles and contrast, dark and light"(browser) {
    for (const colorScheme of ["light", "dark"]) {
      const visit = await Visit.start(browser, { ...desk, colorScheme });
      await visit.draw((...stroke) => visit.mouse(...stroke), "7");
      await visit.page.evaluate(axe);
      const { violations } = await visit.page.evaluate("axe.run()");
      assert.deepStrictEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`), []);
      await visit.end();
    }
  },

  async "a network that is not there is named"(browser) {
    const context = await browser.newContext({ ...desk, serviceWorkers: "block" });
    const page = await context.newPage();
    await page.route("**/digits-cpu.wasm", (route) => route.fulfill({ status: 404 }));
    await page.goto(address);
    await page.waitForFunction(() => /could not be loaded: .*digits-cpu\.wasm: 404/.test(document.getElementById("notice").textContent));
    await context.close();
  },
};

const without = {
  async "a browser without WebGPU uses the CPU, and is told so"(browser) {
    const visit = await Visit.start(browser, desk);
    await visit.page.waitForFunction(() => /WebGPU; the networks run on the CPU/.test(document.getElementById("notice").textContent));
    assert.ok(await visit.page.locator("#devices [value=webgpu]").isDisabled());
    await visit.end();
  },
};

const withGpu = {
  async "digits and letters on WebGPU"(browser) {
    const visit = await Visit.start(browser, desk);
    await visit.select("webgpu");
    await allByMouse(visit);
    await byKeyboard(visit);
    await visit.select("cpu");
    await allByMouse(visit);
    if (picture) await visit.writePicture();
    await visit.end();
  },
};

const lost = {
  async "a lost GPU is told, and the CPU takes over; WebGPU can be selected again"(browser) {
    const visit = await Visit.start(browser, desk, () => {
      const { requestDevice } = GPUAdapter.prototype;
      window.gpus = [];
      GPUAdapter.prototype.requestDevice = async function (...args) {
        window.gpus.push(await requestDevice.apply(this, args));
        return window.gpus.at(-1);
      };
    });
    const { page } = visit;
    for (let count = 0; count < 2; count += 1) {
      await visit.select("webgpu");
      await visit.draw((...stroke) => visit.mouse(...stroke), "7");
      await page.evaluate(() => window.gpus.splice(0).forEach((gpu) => gpu.destroy()));
      await page.locator("#write").click();
      await visit.isOn("cpu");
      assert.match(await page.locator("#notice").textContent(), /WebGPU cannot be used, so the CPU is: The GPU was lost/);
      assert.ok(await page.locator("#devices [value=cpu]").isChecked());
      await allByMouse(visit);
    }
    await visit.end();
  },
};

async function run(args, tests) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test(browser);
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  return failed;
}

(async () => {
  const failed = (await run(["--no-sandbox"], { ...cases, ...without })) + (await run(OPTIONS, { ...withGpu, ...lost }));
  process.exitCode = failed ? 1 : 0;
})();
