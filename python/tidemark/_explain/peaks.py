"""What makes up a measured peak, beside what was planned for it."""

from __future__ import annotations

_WORDS = {
    "variable": "variables",
    "value": "values between functions: batches, results",
    "constant": "constants of graphs and traces",
    "tape": "what tapes recorded",
    "gradient": "gradients on their way",
    "workspace": "workspaces of kernels outside of plans",
    "dataset": "elements of datasets in flight",
    "dataset shuffle buffer": "shuffle buffers of datasets",
    "dataset prefetch buffer": "prefetch buffers of datasets",
    "dataset cache": "caches of datasets",
    "cache": "caches of the runtime",
    "borrowed": "memory of other owners, lent to tensors",
}


def items(analysis, planned=None):
    """[(words, bytes)] that add up to the peak of a recording, what was planned first.

    ``planned``: the bytes that the plan of the largest function asks for, where that was made
    before the recording began.
    """
    arenas, rest = {}, {}
    for group in analysis["groups"]:
        size = group["bytes_at_peak"]
        kind = group["holder"]
        if kind == "arena":
            arenas[group["op"]] = arenas.get(group["op"], 0) + size
        elif size > 0:
            words = _WORDS.get(kind, kind)
            rest[words] = rest.get(words, 0) + size
    told, plans = [], _plans(analysis)
    for name, size in sorted(arenas.items(), key=lambda item: -item[1]):
        wanted = plans.get(name.removesuffix("()"), 0) or (planned or 0)
        planned = None
        wanted = min(wanted, size)
        if wanted:
            told.append((f"planned for {name}", wanted))
        if size > wanted:
            told.append((f"arena of {name}{', above the plan: whole pages' if wanted else ''}",
                         size - wanted))  # fmt: skip
    return told + sorted(rest.items(), key=lambda item: -item[1])


def _plans(analysis):
    """{function: bytes of the largest arena that a plan asks for}."""
    found = {}
    for plan in analysis["plans"]:
        found[plan["name"]] = max(found.get(plan["name"], 0), plan["arena"])
    return found


def split(told):
    """(bytes planned, bytes in all)."""
    return (
        sum(size for words, size in told if words.startswith("planned for ")),
        sum(size for _, size in told),
    )
