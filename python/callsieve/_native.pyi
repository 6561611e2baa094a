"""The compiled part of the package."""

from os import PathLike
from typing import Any, Callable, Optional, final

from callsieve._inputs import ArrowTable

_Path = str | PathLike[str]
_Progress = Callable[[str, str, Optional[int], Optional[int], str], object]

__all__ = [
    "NativeRun",
    "NativeTable",
    "VERSION",
    "audit",
    "check",
    "command",
    "cosine_pairs",
    "cosine_pairs_of_texts",
    "evaluate",
    "fix",
    "generate",
    "inspect",
    "rouge_l_pairs",
    "run_pipeline",
    "write_parquet",
]

VERSION: str

@final
class NativeTable:
    @staticmethod
    def open(path: _Path) -> NativeTable: ...
    @staticmethod
    def of_table(table: ArrowTable) -> NativeTable: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def to_pylist(self, limit: int | None = None) -> list[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

def write_parquet(table: ArrowTable, path: _Path) -> None: ...
def fix(paths: list[str], *, form: str, safe_only: bool) -> list[str]: ...
def rouge_l_pairs(
    texts: list[str | None],
    other: list[str | None] | None,
    *,
    threshold: float,
    tokenizer: str,
    comparison: str,
    clusters: bool,
) -> NativeTable: ...
def cosine_pairs(
    vectors: tuple[int, bytes], other: tuple[int, bytes] | None, *, threshold: float
) -> NativeTable: ...
def cosine_pairs_of_texts(
    texts: list[str], other: list[str] | None, *, threshold: float, embedder: str
) -> NativeTable: ...
def inspect(
    paths: list[str], *, rows: int, seed: int, assistant: list[str], since: str | None, until: str | None
) -> str: ...
def check(path: _Path, *, rules: str, rule: list[str]) -> str: ...
def evaluate(arguments: dict[str, Any]) -> tuple[str, str | None]: ...
def run_pipeline(
    inputs: list[str],
    pipeline: _Path | None,
    settings: list[tuple[str, str]],
    options: dict[str, Any],
    progress: _Progress | None,
) -> str: ...
def audit(arguments: dict[str, Any], options: dict[str, Any], progress: _Progress | None) -> str: ...
def generate(
    arguments: dict[str, Any], out: _Path, options: dict[str, Any], progress: _Progress | None
) -> str: ...
@final
class NativeRun:
    @staticmethod
    def open(folder: _Path) -> NativeRun: ...
    def why(self, row: str) -> str: ...
    def card(self) -> str: ...

def command(arguments: list[str]) -> int: ...
