// Digits: as long as you draw, ten bars show the chance of each.
import { loadModel } from "./models.mjs";
import { Pad } from "./pad.mjs";
import { picture } from "./picture.mjs";

const element = (id) => document.getElementById(id);

export class Digits {
  #model;
  #report;
  #bars = Array.from({ length: 10 }, (_, digit) => addBar(digit));
  #pad = new Pad(element("pad"), () => this.#classify());
  #changed = false;
  #running = false;

  constructor(report) {
    this.#report = report;
    element("clear").addEventListener("click", () => this.#pad.clear());
  }

  async load(device) {
    const model = await loadModel("digits", device);
    const before = this.#model;
    this.#model = model;
    before?.dispose();
    this.#classify();
  }

  /** Classifies the newest drawing; those that are drawn during a call are left out. */
  async #classify() {
    this.#changed = true;
    if (this.#running || !this.#model) return;
    this.#running = true;
    try {
      while (this.#changed) {
        this.#changed = false;
        await this.#classifyOnce();
      }
    } catch (error) {
      this.#report("The drawing cannot be classified", error);
    } finally {
      this.#running = false;
    }
  }

  async #classifyOnce() {
    const { strokes } = this.#pad;
    if (!strokes.length) return this.#show(new Float32Array(256), new Float32Array(10));
    const model = this.#model;
    const seen = picture(strokes);
    try {
      const { chances } = await model.run({ picture: seen });
      this.#show(seen, chances.data);
      element("digit-time").textContent = `${model.milliseconds.toFixed(2)} ms an inference`;
    } catch (error) {
      // A model that another device replaced is disposed during its last call.
      if (model === this.#model) throw error;
    }
  }

  #show(seen, chances) {
    const best = chances.indexOf(Math.max(...chances));
    chances.forEach((chance, digit) => setBar(this.#bars[digit], chance, chance > 0 && digit === best));
    element("digit").textContent = chances[best] ? `This is a ${best}` : "";
    showPicture(seen);
  }
}

function addBar(digit) {
  const item = document.createElement("li");
  const bar = document.createElement("div");
  Object.entries({ role: "meter", "aria-label": `${digit}`, "aria-valuemin": 0, "aria-valuemax": 100 }).forEach(([name, value]) => bar.setAttribute(name, value));
  item.append(`${digit}`, bar);
  element("bars").append(item);
  return item;
}

function setBar(item, chance, first) {
  item.classList.toggle("first", first);
  item.lastChild.style.setProperty("--chance", chance);
  item.lastChild.setAttribute("aria-valuenow", Math.round(100 * chance));
}

function showPicture(seen) {
  const context = element("seen").getContext("2d");
  const image = context.createImageData(16, 16);
  seen.forEach((value, at) => image.data.set([value * 255, value * 255, value * 255, 255], 4 * at));
  context.putImageData(image, 0, 0);
}
