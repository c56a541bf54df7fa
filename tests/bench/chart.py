"""Bar chart of each operation's time with this library relative to upstream's. Writes SVG without a library."""

COLUMNS, ROW, BAR, NAME, WIDTH = 3, 14, 130, 130, 300


def draw(rows):
    """Return the chart, sorted by ratio; the line across the bars is upstream."""
    known = sorted((row for row in rows if row["ratio"]), key=lambda row: row["ratio"])
    height = -(-len(known) // COLUMNS)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" height="{(height + 3) * ROW}" '
        'font-family="sans-serif" font-size="10">',
        f'<rect width="{COLUMNS * WIDTH}" height="{(height + 3) * ROW}" fill="white"/>',
        f'<text x="8" y="{ROW}" font-size="12">Time of each operation, upstream = 1 (the line)</text>',
    ]
    for at, row in enumerate(known):
        out += bar(row, (at // height) * WIDTH, (at % height + 2) * ROW)
    for column in range(COLUMNS):
        x = column * WIDTH + NAME + BAR / 1.3
        out.append(f'<path d="M{x:.1f} {2 * ROW}V{(height + 2) * ROW}" stroke="#444"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def bar(row, x, y):
    """Return the name, bar and figure of an operation; a bar is cut off at 1.3 times upstream's time."""
    width = BAR * min(row["ratio"], 1.3) / 1.3
    colour = "#2a7fb8" if row["ratio"] <= 1 else "#d9742b"
    return [
        f'<text x="{x + NAME - 4}" y="{y + ROW - 4}" text-anchor="end">{row["op"]}</text>',
        f'<rect x="{x + NAME}" y="{y + 2}" width="{width:.1f}" height="{ROW - 4}" fill="{colour}"/>',
        f'<text x="{x + NAME + BAR + 4}" y="{y + ROW - 4}">{row["ratio"]:.2f}</text>',
    ]
