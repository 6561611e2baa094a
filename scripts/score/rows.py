"""Figures about rows: every row occurs once, agent loops are one row, spam and unusable docs are dropped."""

from score.run import Figure, is_out, present

MIN_SPAM = 0.95
MIN_UNUSABLE = 0.99
MAX_WRONGLY_DROPPED = 0.005


def conservation(run, truths):
    seen = [row["external_id"] for row in run.rows]
    repeated = sorted({str(name) for name in duplicates(seen)})
    missing = [name for name in truths if name not in run.by_external]
    unknown = sorted(str(name) for name in set(seen) - set(truths))
    yield Figure("truth ids without a row", len(missing), len(truths), examples=missing).at_most(0)
    yield Figure("rows whose id the truth does not know", len(unknown), len(seen), examples=unknown).at_most(0)
    yield Figure("ids in more than one row", len(repeated), len(seen), examples=repeated).at_most(0)
    for fate in sorted({row["fate"] for row in run.rows}):
        yield Figure(f"rows {fate}", sum(row["fate"] == fate for row in run.rows), len(run.rows))


def duplicates(values):
    seen = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)


# --- conversations --------------------------------------------------------------------------------------


def continuations(run, truths):
    pairs = present(run, truths, lambda truth: truth["continues"] is not None)
    failed = [truth["id"] for truth, row in pairs
              if truth["continues"] not in run.by_external
              or not shares_end(run, row, run.by_external[truth["continues"]])]
    yield Figure("continuations merged into the row they continue", len(pairs) - len(failed), len(pairs),
                 examples=failed).at_least(1)


def shares_end(run, row, continued):
    if row["fate"] == "merged" and row["merged_into"] == continued["request_id"]:
        return True
    if continued["fate"] == "merged":
        return row["fate"] == "merged" and run.end(row) is run.end(continued)
    return continued["fate"] in ("dropped", "held") and (row["fate"], row["reason"]) == (continued["fate"], continued["reason"])


def drops(run, truths):
    yield dropped_for(run, truths, "spam rows dropped as spam", "spam", "spam/").at_least(MIN_SPAM)
    yield dropped_for(run, truths, "rows with unusable docs dropped or held as such, or as spam", "unusable-doc", ("parse/", "spam/")).at_least(MIN_UNUSABLE)
    usable = present(run, truths, lambda truth: truth["kind"] == "entry" and "python-def" not in truth["mess"])
    for kind, prefix in (("spam", "spam/"), ("unusable", "parse/")):
        wrong = [truth["id"] for truth, row in usable if is_out(run, row, prefix)]
        figure = Figure(f"good rows dropped as {kind}", len(wrong), len(usable))
        # The official irrelevance set keeps some greetings and test words, which are spam by any rule: no mark there.
        yield figure if kind == "spam" else figure.at_most(MAX_WRONGLY_DROPPED)


def dropped_for(run, truths, name, kind, prefix):
    pairs = present(run, truths, lambda truth: truth["kind"] == kind and truth["continues"] is None)
    missed = [f"{truth['id']} {row['fate']} {row['reason']}" for truth, row in pairs if not is_out(run, row, prefix)]
    return Figure(name, len(pairs) - len(missed), len(pairs), examples=missed)
