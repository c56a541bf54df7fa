// The drawing area: strokes by mouse, finger, pen and keyboard. Coordinates are from 0 to 1.

const LINE = 0.055;
const STEP = 0.04;
const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

export class Pad {
  strokes = [];
  #canvas;
  #changed;
  /** The pointer that draws. */
  #pointer;
  /** The pen of the keyboard, which is shown once it is used. */
  #pen = { x: 0.5, y: 0.2, down: false, shown: false };

  /** Calls `changed` after each change of the strokes. */
  constructor(canvas, changed) {
    this.#canvas = canvas;
    this.#changed = changed;
    const listen = (type, body) => canvas.addEventListener(type, (event) => body(event));
    listen("pointerdown", (event) => this.#press(event));
    listen("pointermove", (event) => this.#move(event));
    listen("pointerup", (event) => this.#release(event));
    listen("pointercancel", (event) => this.#release(event));
    listen("keydown", (event) => this.#key(event));
    listen("blur", () => this.#liftPen());
    new ResizeObserver(() => this.#paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#paint());
  }

  clear() {
    this.strokes = [];
    this.#liftPen();
    this.#update();
  }

  #update() {
    this.#paint();
    this.#changed();
  }

  #press(event) {
    if (this.#pointer !== undefined || event.button !== 0) return;
    this.#pointer = event.pointerId;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pen.shown = false;
    this.strokes.push([this.#place(event)]);
    this.#update();
  }

  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    // A pen sends more points than there are frames.
    const events = event.getCoalescedEvents?.() ?? [];
    this.strokes.at(-1).push(...(events.length ? events : [event]).map((each) => this.#place(each)));
    this.#update();
  }

  #release(event) {
    if (event.pointerId === this.#pointer) this.#pointer = undefined;
  }

  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  }

  #key(event) {
    const pen = this.#pen;
    if (event.key in ARROWS) this.#movePen(...ARROWS[event.key]);
    else if (event.key === " ") {
      pen.down = !pen.down;
      if (pen.down) this.strokes.push([{ x: pen.x, y: pen.y }]);
    } else if (event.key === "Escape") this.clear();
    else return;
    event.preventDefault();
    pen.shown = true;
    this.#update();
  }

  #movePen(dx, dy) {
    const inside = (value) => Math.min(Math.max(value, 0), 1);
    const pen = this.#pen;
    Object.assign(pen, { x: inside(pen.x + dx), y: inside(pen.y + dy) });
    if (pen.down) this.strokes.at(-1).push({ x: pen.x, y: pen.y });
  }

  #liftPen() {
    Object.assign(this.#pen, { down: false, shown: false });
    this.#paint();
  }

  #paint() {
    const size = Math.round(this.#canvas.clientWidth * devicePixelRatio);
    Object.assign(this.#canvas, { width: size, height: size });
    const context = this.#canvas.getContext("2d");
    context.scale(size, size);
    Object.assign(context, { lineWidth: LINE, lineCap: "round", lineJoin: "round" });
    context.strokeStyle = getComputedStyle(this.#canvas).color;
    for (const [first, ...rest] of this.strokes) {
      context.beginPath();
      context.moveTo(first.x, first.y);
      // A line of no length is a dot.
      [first, ...rest].forEach(({ x, y }) => context.lineTo(x, y));
      context.stroke();
    }
    if (this.#pen.shown) this.#paintPen(context);
  }

  #paintPen(context) {
    context.lineWidth = 0.01;
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--rust");
    context.beginPath();
    context.arc(this.#pen.x, this.#pen.y, this.#pen.down ? LINE / 2 : LINE, 0, 2 * Math.PI);
    context.stroke();
  }
}
