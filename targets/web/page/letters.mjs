// The language model: it writes one character in each frame, after a beginning of yours.
import { loadModel } from "./models.mjs";

const element = (id) => document.getElementById(id);

/** Characters of the text that is shown. */
const LONGEST = 4000;

export class Letters {
  #model;
  #report;
  #alphabet = "";
  #units = 0;
  #state;
  #scores;
  /** Ends the text that is being written. */
  #stop;

  constructor(report) {
    this.#report = report;
    const temperature = element("temperature");
    const show = () => { element("temperature-value").textContent = Number(temperature.value).toFixed(2); };
    temperature.addEventListener("input", show);
    show();
    element("write").disabled = true;
    element("write").addEventListener("click", () => (this.#stop ? this.#stop.abort() : this.#write()));
    element("beginning").addEventListener("keydown", ({ key }) => key === "Enter" && !this.#stop && this.#write());
  }

  async load(device) {
    this.#stop?.abort();
    const description = await (await fetch("models/letters.json")).json();
    const model = await loadModel("letters", device);
    const before = this.#model;
    this.#model = model;
    before?.dispose();
    this.#alphabet = description.alphabet;
    this.#units = description.units;
    element("write").disabled = false;
  }

  async #write() {
    if (!this.#model) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#setWriting(true);
    try {
      await this.#begin(element("beginning").value);
      await this.#goOn(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) this.#report("The model cannot write", error);
    } finally {
      this.#stop = undefined;
      this.#setWriting(false);
    }
  }

  /** Reads the beginning, after the end of a line. */
  async #begin(beginning) {
    const bold = document.createElement("b");
    bold.textContent = beginning;
    element("text").replaceChildren(bold, "");
    this.#state = new Float32Array(this.#units);
    for (const character of `\n${beginning}`) await this.#read(character);
  }

  async #goOn(signal) {
    const text = element("text").lastChild;
    const start = performance.now();
    for (let count = 1; !signal.aborted && count <= LONGEST; count += 1) {
      const character = this.#alphabet[sample(this.#scores, Number(element("temperature").value))];
      text.data += character;
      element("text").scrollTop = element("text").scrollHeight;
      await this.#read(character);
      await new Promise(requestAnimationFrame);
      this.#showSpeed((1000 * count) / (performance.now() - start));
    }
  }

  /** Reads a character: the model's state changes, and the scores of the next character are known. */
  async #read(character) {
    const letter = Math.max(this.#alphabet.indexOf(character), 0);
    const { scores, next_state: state } = await this.#model.run({ letter: Int32Array.of(letter), state: this.#state });
    [this.#scores, this.#state] = [scores.data, state.data];
  }

  #setWriting(writing) {
    element("text").classList.toggle("writing", writing);
    element("write").textContent = writing ? "Stop" : "Write";
  }

  #showSpeed(speed) {
    element("letters-speed").textContent = `${speed.toFixed(0)} characters per second, ${this.#model.milliseconds.toFixed(2)} ms each`;
  }
}

/** Returns a random index; a low temperature prefers high scores. */
function sample(scores, temperature) {
  const highest = Math.max(...scores);
  const weights = Array.from(scores, (score) => Math.exp((score - highest) / temperature));
  let rest = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (rest -= weight) < 0);
  return Math.max(found, 0);
}
