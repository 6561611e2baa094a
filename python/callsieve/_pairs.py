"""Near-duplicate pairs of texts and vectors."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from callsieve import _native
from callsieve._inputs import texts_of
from callsieve._table import Table


def rouge_l_pairs(
    texts: Iterable[str | None] | Any,
    other: Iterable[str | None] | Any | None = None,
    *,
    field: str | None = None,
    threshold: float = 0.8,
    tokenizer: str = "auto",
    comparison: Literal["exact", "google-float"] = "exact",
    clusters: bool = False,
) -> Table:
    """Find all pairs of texts whose ROUGE-L F1 is above a threshold. The join is exact: no pair is missed.

    `texts` is a list, or a column of pandas, polars or pyarrow; of a table, `field` names the column. With `other`, the
    texts are compared with those and not with one another. A missing text is in no pair.

    The table has the columns ``a``, ``b`` (numbers of rows, from 0) and ``score``. With `clusters` it has a row for each text:
    ``id``, ``leader`` (the first row of its cluster) and the ``score`` with it. The other arguments are the flags of
    ``callsieve pairs``.

    >>> import callsieve
    >>> callsieve.rouge_l_pairs(["water the ferns in bay 4", "stop the pump", "water the ferns in bay 5"]).to_pylist()
    [{'a': 0, 'b': 2, 'score': 0.833...}]
    """
    if clusters and other is not None:
        raise ValueError("clusters are made of one collection, so `other` cannot be given")
    if comparison not in ("exact", "google-float"):
        raise ValueError(f"unknown comparison {comparison!r}: expected 'exact' or 'google-float'")
    return Table(
        _native.rouge_l_pairs(
            texts_of(texts, field),
            None if other is None else texts_of(other, field),
            threshold=threshold,
            tokenizer=tokenizer,
            comparison=comparison,
            clusters=clusters,
        )
    )


def cosine_pairs(
    vectors: Any,
    other: Any | None = None,
    *,
    field: str | None = None,
    threshold: float = 0.9,
    embedder: str | None = None,
) -> Table:
    """Find all pairs of vectors, or of texts, whose cosine is at or above a threshold.

    `vectors` has a vector in each row: an array of numpy with two dimensions, or a list of lists. With `embedder`, such as
    ``"hashed"``, it holds texts as :func:`rouge_l_pairs` takes them, and the embedder makes their vectors. With `other`, the
    rows are compared with those and not with one another.

    The table has the columns ``a``, ``b`` (numbers of rows, from 0) and ``score``.

    >>> import callsieve
    >>> callsieve.cosine_pairs([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]).to_pylist()
    [{'a': 0, 'b': 2, 'score': 1.0}]
    """
    if embedder is not None:
        texts = [_present(text) for text in texts_of(vectors, field)]
        others = None if other is None else [_present(text) for text in texts_of(other, field)]
        return Table(_native.cosine_pairs_of_texts(texts, others, threshold=threshold, embedder=embedder))
    return Table(
        _native.cosine_pairs(_matrix(vectors), None if other is None else _matrix(other), threshold=threshold)
    )


def _present(text: str | None) -> str:
    if text is None:
        raise ValueError("a text is missing: leave such rows out")
    return text


def _matrix(vectors: Any) -> tuple[int, bytes]:
    """Return the number of dimensions, and the numbers row after row."""
    if hasattr(vectors, "__array__") or hasattr(vectors, "__array_interface__"):
        import numpy

        values = numpy.ascontiguousarray(vectors, dtype="<f4")
        if values.ndim != 2:
            raise ValueError(f"expected an array with two dimensions, found {values.ndim}")
        return values.shape[1], values.tobytes()
    rows: Sequence[Sequence[float]] = list(vectors)
    n_dims = len(rows[0]) if rows else 0
    numbers = array("f")
    for at, row in enumerate(rows):
        if len(row) != n_dims:
            raise ValueError(f"row {at} has {len(row)} numbers, the first row {n_dims}")
        numbers.extend(row)
    if sys.byteorder == "big":
        numbers.byteswap()
    return n_dims, numbers.tobytes()
