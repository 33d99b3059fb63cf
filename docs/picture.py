#!/usr/bin/env python3
"""Terminal output with colours (stdin) -> SVG (stdout), for README.md:

    sudo build/run/bin/bulkhead audit scenarios/gpu-pod --on lab --color always | docs/picture.py > docs/gpu-pod.svg
"""
import re
import sys
from html import escape

ADVANCE, LINE, MARGIN = 8.4, 18, 18  # of 14 px monospace
STYLES = {  # SGR parameters -> fill, weight, background
    "": ("#d4d4d8", "normal", None),
    "1": ("#fafafa", "bold", None),
    "2": ("#71717a", "normal", None),
    "32": ("#4ade80", "normal", None),
    "36": ("#22d3ee", "normal", None),
    "35": ("#c084fc", "normal", None),
    "1;33": ("#facc15", "bold", None),
    "1;97;41": ("#ffffff", "bold", "#dc2626"),
}


def runs(line):
    """(column, text, style) of each piece of a line."""
    column, style = 0, ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b["):
            style = piece[2:-1].removeprefix("0")
        elif piece:
            yield column, piece, style
            column += len(piece)


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(sum(len(text) for _, text, _ in runs(line)) for line in lines)
    width, height = columns * ADVANCE + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
        f'<rect width="100%" height="100%" rx="10" fill="#18181b"/>',
    ]
    for row, line in enumerate(lines):
        base = MARGIN + row * LINE + 13
        for column, text, style in runs(line):
            fill, weight, background = STYLES[style]
            # Each run at its own place and of its own width: a font with other advances, or
            # without a glyph, never shifts a column.
            x, length = MARGIN + column * ADVANCE, len(text) * ADVANCE
            if background:
                out.append(f'<rect x="{x:.1f}" y="{base - 13}" width="{length:.1f}" '
                           f'height="{LINE - 1}" fill="{background}"/>')
            if text.strip():
                out.append(f'<text x="{x:.1f}" y="{base}" textLength="{length:.1f}" fill="{fill}" '
                           f'font-weight="{weight}" xml:space="preserve">{escape(text)}</text>')
    out.append("</svg>")
    print("\n".join(out))


main()
