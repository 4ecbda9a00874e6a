#!/usr/bin/env python3
"""Draws docs/picture.svg: the ring of Turnstyle with its turntable, and how many states of
Turnstyle(12) lie at every depth, from results/turnstyle-12/step/levels.tsv. The same bytes each time."""

import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PIECES, SEATS = 12, 4
INK, BAR, SEAT = "#768390", "#3a7abd", "#b0671a"


def ring(x, y, radius):
    """Twelve pieces on a circle; the first four stand on the turntable."""
    shapes = [f'<circle cx="{x}" cy="{y}" r="{radius}" fill="none" stroke="{INK}" stroke-width="2"/>']
    step = 2 * math.pi / PIECES
    middle = -math.pi / 2
    shapes.append(
        f'<ellipse cx="{x}" cy="{y - 0.84 * radius:.1f}" rx="{0.92 * radius:.1f}" ry="{0.46 * radius:.1f}" fill="{SEAT}" '
        f'fill-opacity="0.18" stroke="{SEAT}" stroke-width="2" stroke-dasharray="6 4"/>'
    )
    for piece in range(PIECES):
        angle = middle + (piece - (SEATS - 1) / 2) * step
        px, py = x + radius * math.cos(angle), y + radius * math.sin(angle)
        colour = SEAT if piece < SEATS else BAR
        shapes.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="15" fill="{colour}"/>')
        shapes.append(f'<text x="{px:.1f}" y="{py + 5:.1f}" text-anchor="middle" fill="#fff" font-size="14">{piece + 1}</text>')
    return shapes


def distribution(x, y, width, height):
    """A bar for each depth; the highest is the fullest level."""
    rows = (ROOT / "results/turnstyle-12/step/levels.tsv").read_text().splitlines()[1:]
    levels = [int(row.split("\t")[1]) for row in rows]
    most, wide = max(levels), width / len(levels)
    shapes = [f'<line x1="{x}" y1="{y}" x2="{x + width}" y2="{y}" stroke="{INK}"/>']
    for depth, states in enumerate(levels):
        high = height * states / most
        shapes.append(f'<rect x="{x + depth * wide + 1:.1f}" y="{y - high:.1f}" width="{wide - 2:.1f}" height="{high:.1f}" fill="{BAR}"/>')
        if depth % 5 == 0:
            shapes.append(f'<text x="{x + (depth + 0.5) * wide:.1f}" y="{y + 18}" text-anchor="middle" fill="{INK}" font-size="12">{depth}</text>')
    last = len(levels) - 1
    notes = [
        f"{sum(levels):,} states by depth",
        f"fullest: {most:,} at depth {levels.index(most)}",
        f"God's number: {last} ({levels[last]} state)",
    ]
    for number, note in enumerate(notes):
        shapes.append(f'<text x="{x}" y="{y - height + 8 + 20 * number}" fill="{INK}" font-size="14">{note}</text>')
    return shapes


def main():
    shapes = ring(170, 175, 110) + distribution(340, 270, 430, 210)
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 310" font-family="sans-serif" role="img" '
        'aria-label="The ring of Turnstyle with its turntable, and its states by depth">\n' + "\n".join(shapes) + "\n</svg>\n"
    )
    (ROOT / "docs/picture.svg").write_text(text)


main()
