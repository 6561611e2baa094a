#!/usr/bin/env python3
"""Scores a finished run against the known truth about its log.

    score_run.py out/<run> truth.jsonl [--json] [--text-column NAME] [--examples N] [--program PATH]

The truth file has one line per request, as `make_sample_log.py --truth` writes it: the planted properties of the request
(spam, unusable docs, a reversible fault, a right or wrong answer, the request it continues). A truth of
`make_sample_log.py --mistakes` adds figures for each class of mistakes. Every figure is a numerator over a denominator. A
figure below its threshold fails the run: exit 1. Figures without a threshold are only reported. Exit 2: the run or the
truth cannot be read.

Needs pyarrow or polars; uses rapidfuzz if it is installed, only for speed.
"""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

sys.dont_write_bytecode = True
from score import docs, mistakes, recipe, rows  # noqa: E402 (after the line above, which they obey)
from score.run import Run, read_truth  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN_DIR")
    parser.add_argument("truth", type=Path, metavar="TRUTH")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--text-column", default="compared_text", metavar="NAME",
                        help="column of lists.parquet with the doc list as it was when near docs were merged")
    parser.add_argument("--program", metavar="PATH", help="path of callsieve, to measure how `fix` handles docs that a run holds")
    parser.add_argument("--examples", type=int, default=5, metavar="N", help="failing rows named per figure")
    args = parser.parse_args()
    if args.program is not None and shutil.which(args.program) is None:
        parser.error(f"no program {args.program!r}")
    try:
        run, truths = Run(args.run, args.text_column), read_truth(args.truth)
    except (OSError, ValueError, KeyError) as error:
        print(f"score_run: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    figures = score(run, truths, args.program)
    for figure in figures:
        figure.examples = figure.examples[: args.examples]
    print(json.dumps([asdict(figure) for figure in figures], indent=2) if args.json else table(figures))
    return 1 if any(figure.holds is False for figure in figures) else 0


def score(run, truths, program=None):
    return [*rows.conservation(run, truths), *rows.continuations(run, truths), *docs.near_docs(run), *docs.lossless(run, truths),
            *rows.drops(run, truths), *recipe.public(run, truths), *recipe.judged(run, truths), *recipe.answers(run, truths),
            *recipe.privacy(run, truths), *mistakes.planted(run, truths, program)]


def table(figures):
    lines = [f"{'figure':<64}{'count':>16}{'share':>9}{'mark':>10}"]
    for figure in figures:
        share = f"{figure.numerator / figure.denominator:.2%}" if figure.denominator else "-"
        verdict = "" if figure.holds is None else "  ok" if figure.holds else "  MISSED"
        lines.append(f"{figure.name:<64}{f'{figure.numerator}/{figure.denominator}':>16}{share:>9}{figure.mark:>10}{verdict}")
    for figure in figures:
        if figure.holds is False or (figure.holds is None and figure.examples):
            lines += [f"  {figure.name}: {example}" for example in figure.examples]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
