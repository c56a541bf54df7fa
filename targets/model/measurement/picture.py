"""The picture of a profile: a bar for each operator, as SVG."""

from xml.sax.saxutils import escape

import quote

from .report import PREFIX, SHOWN

HEIGHT, WIDTH, LABEL = 20, 960, 420
"""Pixels of a bar's line, of the picture, and of the names at its left."""
DENSE, OTHER = "#2a6fb0", "#8a8f98"


def svg(rows, title):
    """Returns the picture; bars of Ferrite's kernels have a colour of their own."""
    shown = rows[:SHOWN]
    longest = max((row["share"] for row in shown), default=1) or 1
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * (len(shown) + 2)}" font-family="sans-serif" font-size="12">',
        f'<text x="8" y="15" font-weight="bold">{_text(title)}: time per operator</text>',
    ]
    for at, row in enumerate(shown):
        lines.append(_bar(HEIGHT * (at + 1), row, (WIDTH - LABEL - 120) * row["share"] / longest))
    return "\n".join([*lines, "</svg>", ""])


def _bar(top, row, length):
    colour = DENSE if row["operator"].startswith(PREFIX) else OTHER
    name = row["operator"] if len(row["operator"]) <= 58 else row["operator"][:57] + "…"
    time = f"{row['nanoseconds'] / 1e3:.1f} us, {100 * row['share']:.1f}%"
    return (
        f'<text x="{LABEL - 8}" y="{top + 15}" text-anchor="end">{_text(name)}</text>'
        f'<rect x="{LABEL}" y="{top + 3}" width="{length:.1f}" height="{HEIGHT - 6}" fill="{colour}"/>'
        f'<text x="{LABEL + length + 6:.1f}" y="{top + 15}">{time}</text>'
    )


def _text(string):
    return escape(quote.visible(string))
