"""A picture as SVG, in a light and a dark form, which the reader's system chooses. It needs no font: text has room for wide ones."""

from html import escape

ROW = 22

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.mono { font-family: ui-monospace, monospace; font-size: 11px }
.small { font-size: 11px; fill: #57606a }
.tiny { font-size: 10px }
.head { font-weight: 600 }
.page { fill: #ffffff }
.box { fill: #f6f8fa; stroke: #8c959f }
.header { fill: #ddf4ff; stroke: #54aeff }
.free { fill: none; stroke: #8c959f; stroke-dasharray: 3 3 }
.line { fill: none; stroke: #57606a; stroke-width: 1.4 }
.tip { fill: #57606a }
.ours { fill: #0969da; stroke: none }
.slow { fill: #bc4c00; stroke: none }
.our-line { fill: none; stroke: #0969da; stroke-width: 2 }
.their-line { fill: none; stroke: #bc4c00; stroke-width: 2; stroke-dasharray: 5 3 }
.grid { stroke: #d0d7de; fill: none }
.one { stroke: #1f2328; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .page { fill: #0d1117 }
  .box { fill: #161b22; stroke: #6e7681 }
  .header { fill: #0c2d6b; stroke: #388bfd }
  .free { stroke: #6e7681 }
  .line { stroke: #9198a1 }
  .tip { fill: #9198a1 }
  .ours { fill: #388bfd }
  .slow { fill: #f0883e }
  .our-line { stroke: #58a6ff }
  .their-line { stroke: #f0883e }
  .grid { stroke: #30363d }
  .one { stroke: #e6edf3 }
}
"""


def path(points):
    return "M" + " L".join(f"{x:g} {y:g}" for x, y in points)


class Picture:
    """An SVG of records, boxes and arrows; coordinates are in pixels from the upper left corner."""

    def __init__(self, title, width, height):
        self.title, self.width, self.height, self.parts = title, width, height, []

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x, y, width, height, kind="box"):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" class="{kind}"/>')

    def label(self, x, y, width, height, lines, kind="box"):
        """Draw a box with centred lines of text."""
        self.box(x, y, width, height, kind)
        top = y + height / 2 - (len(lines) - 1) * 8 + 4
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + number * 16, line, "head" if number == 0 and len(lines) > 1 else "", "middle")

    def record(self, x, y, width, title, fields):
        """Draw a record: its title, and a row for each (offset, field, kind of box)."""
        self.text(x, y - 8, title, "head")
        for number, (offset, field, kind) in enumerate(fields):
            top = y + number * ROW
            self.box(x, top, width, ROW, kind)
            self.text(x - 6, top + 15, str(offset), "small", "end")
            self.text(x + 8, top + 15, field, "mono")

    def line(self, kind, *points):
        """Draw a line through the points."""
        self.parts.append(f'<path d="{path(points)}" class="{kind}"/>')

    def arrow(self, *points):
        """Draw a line through the points, with a tip at the last one."""
        (x0, y0), (x1, y1) = points[-2:]
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        left, right = (x1 - 7 * dx - 4 * dy, y1 - 7 * dy - 4 * dx), (x1 - 7 * dx + 4 * dy, y1 - 7 * dy + 4 * dx)
        self.line("line", *points)
        self.parts.append(f'<path d="M{x1} {y1} L{left[0]} {left[1]} L{right[0]} {right[1]} Z" class="tip"/>')

    def svg(self):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img">\n<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n'
            f'<rect width="{self.width}" height="{self.height}" rx="6" class="page"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"
