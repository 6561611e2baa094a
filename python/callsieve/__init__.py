"""Curates function-calling datasets: a request log becomes a clean evaluation set, with the history of every row.

The functions are those of the command ``callsieve``, which comes with the package; arguments have the names of its flags.
"""

from callsieve._docs import fix
from callsieve._errors import Error, InternalError
from callsieve._looks import check, evaluate, inspect
from callsieve._native import VERSION as __version__
from callsieve._pairs import cosine_pairs, rouge_l_pairs
from callsieve._progress import CallsieveWarning, Progress
from callsieve._runs import Run, audit, generate, run
from callsieve._table import Table

__all__ = [
    "CallsieveWarning",
    "Error",
    "InternalError",
    "Progress",
    "Run",
    "Table",
    "__version__",
    "audit",
    "check",
    "cosine_pairs",
    "evaluate",
    "fix",
    "generate",
    "inspect",
    "rouge_l_pairs",
    "run",
]
