#!/usr/bin/env python3
"""Draws the picture at the top of README: the funnel of a run, and speed compared with other libraries.

    cargo run -- run
    python3 benches/picture.py out/sample

The funnel is read from the run's `report.json`, the speeds from `benches/speed.json`, which copies measured figures from
`benches/README.md`. Writes `docs/img/overview-light.svg` and `docs/img/overview-dark.svg`; `tests/it/picture.rs` fails when
their figures are out of date.
"""

import argparse
import json
import pathlib
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent

WIDTH = 880
MARGIN = 24
GUTTER = 28
FUNNEL_WIDTH = 468
ROW = 22
TITLE = 46
"""Height above the first row of a panel, for its two lines of heading."""

SANS = "-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

THEMES = {
    "light": {
        "canvas": "#ffffff", "border": "#d1d9e0", "text": "#1f2328", "dim": "#59636e",
        "requests": "#2563c9", "lists": "#8fb4ee", "peer": "#b9c2cc",
    },
    "dark": {
        "canvas": "#0d1117", "border": "#3d444d", "text": "#f0f6fc", "dim": "#9198a1",
        "requests": "#4f94ff", "lists": "#2f5796", "peer": "#59636e",
    },
}


def text(x, y, content, colour, size=13, anchor="start", family=SANS, weight="normal"):
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" font-family="{family}" '
        f'font-weight="{weight}" text-anchor="{anchor}">{escape(content)}</text>'
    )


def bar(x, y, width, height, colour):
    return f'<rect x="{x:g}" y="{y:g}" width="{max(width, 2):.1f}" height="{height}" rx="2" fill="{colour}"/>'


def steps_of(report):
    """The steps after which fewer rows are left, with the first and the last step."""
    funnel = report["funnel"]
    shown = [funnel[0]]
    for step in funnel[1:-1]:
        last = shown[-1]
        if (step["requests"], step["doc_lists"]) != (last["requests"], last["doc_lists"]):
            shown.append(step)
    return shown + [funnel[-1]]


def funnel(steps, theme, x, y):
    """The left panel: a pair of bars for each step."""
    first, last = steps[0], steps[-1]
    names = 176
    numbers = 78
    scale = (FUNNEL_WIDTH - names - numbers) / max(first["requests"], first["doc_lists"])
    parts = [
        text(x, y + 14, f"Sample log: {first['requests']} requests, {last['requests']} entries", theme["text"], 16,
             weight="600"),
        bar(x, y + 28, 10, 10, theme["requests"]),
        text(x + 15, y + 37, "requests", theme["dim"], 12),
        bar(x + 82, y + 28, 10, 10, theme["lists"]),
        text(x + 97, y + 37, "lists of function docs", theme["dim"], 12),
    ]
    for number, step in enumerate(steps):
        top = y + TITLE + 6 + number * ROW
        requests, lists = step["requests"], step["doc_lists"]
        is_end = step in (first, last)
        colour = theme["text"] if is_end else theme["dim"]
        parts += [
            f"<g><title>{escape(step['step'])}: {requests} requests, {lists} doc lists</title>",
            text(x + names - 12, top + 14, step["step"], colour, 12.5, "end", MONO),
            bar(x + names, top + 3, requests * scale, 8, theme["requests"]),
            bar(x + names, top + 12, lists * scale, 4, theme["lists"]),
            text(x + FUNNEL_WIDTH - 44, top + 14, str(requests), colour, 12.5, "end", MONO, "600"),
            text(x + FUNNEL_WIDTH, top + 14, str(lists), colour, 12.5, "end", MONO),
            "</g>",
        ]
    return parts, TITLE + 6 + len(steps) * ROW


def speeds(groups, theme, x, y, width):
    """The right panel: a group of bars for each comparison, each with a scale of its own."""
    parts = [
        text(x, y + 14, "Speed", theme["text"], 16, weight="600"),
        text(x, y + 37, "2 cores; shorter is faster; benches/README.md", theme["dim"], 12),
    ]
    names = 158
    numbers = 66
    top = y + TITLE + 8
    for group in groups:
        scale = (width - names - numbers) / max(float(entry["value"]) for entry in group["bars"])
        parts.append(text(x, top + 12, group["title"], theme["text"], 12.5, weight="600"))
        top += 19
        for number, entry in enumerate(group["bars"]):
            ours = number == 0
            length = float(entry["value"]) * scale
            colour = theme["text"] if ours else theme["dim"]
            parts += [
                text(x, top + 13, entry["name"], colour, 12, weight="600" if ours else "normal"),
                bar(x + names, top + 4, length, 11, theme["requests"] if ours else theme["peer"]),
                text(x + names + max(length, 2) + 6, top + 14, f"{entry['value']} {group['unit']}", colour, 12,
                     family=MONO, weight="600" if ours else "normal"),
            ]
            top += 18
        top += 13
    return parts, top - y - 13


def draw(steps, groups, theme):
    left, left_height = funnel(steps, theme, MARGIN, MARGIN)
    x = MARGIN + FUNNEL_WIDTH + GUTTER
    right, right_height = speeds(groups, theme, x, MARGIN, WIDTH - x - MARGIN)
    height = 2 * MARGIN + max(left_height, right_height)
    first, last = steps[0], steps[-1]
    label = (
        f"Funnel of the sample run: {first['requests']} requests become {last['requests']} entries. "
        "Times of callsieve and other libraries."
    )
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img" aria-label="{escape(label)}">',
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8" fill="{theme["canvas"]}" '
        f'stroke="{theme["border"]}"/>',
        *left,
        *right,
        "</svg>",
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("run", type=pathlib.Path, help="folder of a finished run")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/img", help="folder of the two files")
    arguments = parser.parse_args()
    steps = steps_of(json.loads((arguments.run / "report.json").read_text("utf-8")))
    groups = json.loads((ROOT / "benches/speed.json").read_text("utf-8"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, theme in THEMES.items():
        (arguments.out / f"overview-{name}.svg").write_text(draw(steps, groups, theme), "utf-8")


if __name__ == "__main__":
    main()
