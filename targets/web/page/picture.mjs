// Pictures of strokes, as train/digits.py draws them.

const SIDE = 16;
const MARGIN = 2.5;
/** Half the width of a stroke in pixels. */
const RADIUS = 1;

/** Returns a picture of strokes, lists of points: centred, and as large as fits. */
export function picture(strokes) {
  const points = strokes.flat();
  const [left, right] = range(points.map(({ x }) => x));
  const [top, bottom] = range(points.map(({ y }) => y));
  // A dot does not fill the picture.
  const scale = (SIDE - 2 * MARGIN) / Math.max(right - left, bottom - top, 0.1);
  const place = ({ x, y }) => ({ x: (x - (left + right) / 2) * scale + SIDE / 2, y: (y - (top + bottom) / 2) * scale + SIDE / 2 });
  const segments = strokes.flatMap((stroke) => stroke.map((point, at) => [place(stroke[Math.max(at - 1, 0)]), place(point)]));
  return Float32Array.from({ length: SIDE * SIDE }, (_, at) => {
    const pixel = { x: (at % SIDE) + 0.5, y: Math.floor(at / SIDE) + 0.5 };
    const nearest = Math.min(...segments.map(([from, to]) => distance(pixel, from, to)));
    return Math.min(Math.max(RADIUS + 0.5 - nearest, 0), 1);
  });
}

const range = (numbers) => [Math.min(...numbers), Math.max(...numbers)];

/** Returns the distance of a point to a segment. */
function distance(point, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.min(Math.max(along, 0), 1);
  return Math.hypot(point.x - from.x - t * dx, point.y - from.y - t * dy);
}
