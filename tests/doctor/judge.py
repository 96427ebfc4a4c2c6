"""What the comments of a planted program expect of a finding, and whether an answer meets it."""

from __future__ import annotations

import re

NEAR = 0.05  # of the bytes a step


def expected(text, word):
    """What the program's comments say of it: # root: module __main__"""
    return re.findall(rf"^# {word}: (.*)$", text, re.M)


def marked(text, mark):
    """The lines marked so: # HERE, # MADE"""
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(rf"# .*\b{mark}\b", line)]


def judge(text, findings):
    """What is wrong with an answer: {"rule", "line", "chain", "root", "made", "bytes"} → what was
    told instead. Nothing is: it is right."""
    rules, (here,) = expected(text, "rule"), marked(text, "HERE")
    same = [f for f in findings if not rules or f["rule"] == rules[0]]
    if not same:
        return {"rule": ", ".join(f"{f['rule']} at :{f['line']}" for f in findings) or "silent"}
    # The finding at the line comes first where several are of the rule.
    same.sort(key=lambda f: f["line"] != here)
    finding = same[0]
    wrong = {}
    if finding["line"] != here:
        wrong["line"] = f"{finding['rule']} at :{finding['line']}, not :{here}"
    words = [link["words"] for link in finding["chain"]]
    if any(not any(part in link for link in words) for part in expected(text, "chain")):
        wrong["chain"] = " ← ".join(words) or "none"
    if any(root != finding["root"] for root in expected(text, "root")):
        wrong["root"] = finding["root"] or "none"
    made = {int(place.partition(":")[2].split()[0]) for place in finding["made_at"]}
    if not made.issuperset(marked(text, "MADE")):
        wrong["made"] = ", ".join(finding["made_at"]) or "none"
    for size in map(int, expected(text, "bytes")):
        if abs(finding["bytes_per_step"] - size) > NEAR * size:
            wrong["bytes"] = f"{finding['bytes_per_step']}, not {size}"
    return wrong
