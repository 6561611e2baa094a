#!/usr/bin/env python3
"""Loads an instruction set as trainers load it.

    scripts/check_training_forms.sh out/<run>

With `datasets`, every form is read row by row: no value may be lost, and the calls of each form must be those of
`programs.jsonl`. The trainers that are installed then read the forms that docs/instructions.md names for them, with the settings
of its section "Loading":

- TRL renders `openai.jsonl` with each of its chat templates that has tools, and masks all but the messages to learn.
- Axolotl labels the messages to learn of the same file.
- LLaMA-Factory converts and formats `sharegpt.jsonl`.

ToolLLaMA, xLAM and Hermes have no package; their forms are held against the structure that their pages describe. Models are not
trained. Prints one line per check; exit 1 if a library refuses a row or reads something else, 2 if there is nothing to check.

`check_training_forms.sh` runs this in one environment for each trainer, with the `datasets` that it asks for.
"""

import importlib.util
import logging
import os
import sys
import tempfile
from pathlib import Path

from training_forms.forms import reason
from training_forms.rows import check_datasets, check_structures
from training_forms.with_axolotl import check_axolotl
from training_forms.with_llama_factory import check_llama_factory
from training_forms.with_trl import check_trl

TRAINERS = {"trl": check_trl, "axolotl": check_axolotl, "llamafactory": check_llama_factory}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = Path(sys.argv[1])
    sets = [file.parent for file in sorted(run.glob("dataset/**/programs.jsonl")) if file.stat().st_size]
    if not sets:
        print(f"{run}: no instructions in dataset/programs.jsonl", file=sys.stderr)
        sys.exit(2)
    trainers = [check for package, check in TRAINERS.items() if importlib.util.find_spec(package)]
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as cache:
        # No request is sent to a hub, and no files are kept.
        os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=cache, HF_DATASETS_DISABLE_PROGRESS_BARS="1")
        faults = []
        for folder in sets:
            for check in [check_datasets, check_structures, *trainers]:
                try:
                    faults += [f"{folder}: {fault}" for fault in check(folder)]
                except Exception as error:
                    faults.append(f"{folder}: {check.__name__} stopped: {reason(error)}")
    for fault in faults[:40]:
        print(fault, file=sys.stderr)
    if len(faults) > 40:
        print(f"and {len(faults) - 40} more", file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
