"""Findings: what is wrong with a program's memory, what it costs, and the fix."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark._explain import growth, rules, source


@dataclass
class Finding:
    """One thing worth changing."""

    rule: str
    title: str
    file: str
    line: int
    holder: str
    bytes_per_step: float
    bytes_now: int
    verdict: str
    evidence: str
    fix: str
    outlook: str = ""

    def to_json(self):
        return {
            "rule": self.rule, "title": self.title, "file": self.file, "line": self.line,
            "holder": self.holder, "bytes_per_step": round(self.bytes_per_step),
            "bytes_now": self.bytes_now, "verdict": self.verdict, "evidence": self.evidence,
            "outlook": self.outlook, "fix": self.fix,
        }  # fmt: skip


def find(run):
    """All findings of a run, the most costly first."""
    found = []
    for rule in rules.ALL:
        for raw in rule(run):
            found.append(Finding(**raw))
    limit, live = run.limit, run.analysis["live_at_end"]
    for finding in found:
        left = growth.steps_until(limit, live, finding.bytes_per_step)
        if left is not None and not finding.outlook:
            finding.outlook = (
                f"in {left:,} steps the limit of {source.bytes_text(limit)} is hit"
                if left < 10**9
                else ""
            )
    return sorted(found, key=lambda f: (-f.bytes_per_step, -f.bytes_now, f.rule))


def text(found, run, width=80):
    """For a terminal of 80 columns."""
    import textwrap

    analysis = run.analysis
    steps = analysis["steps"]
    verdict = growth.overall(analysis)
    lines = []
    where = f" ({steps['how']}{' at ' + steps['place'] if steps['place'] else ''})"
    lines += textwrap.wrap(
        f"{steps['count']:,} steps{where if steps['count'] else ''}: "
        + (f"growing by {source.bytes_text(verdict.bytes_per_step)} a step"
           if verdict.is_growing else verdict.verdict)
        + f", peak {source.bytes_text(analysis['peak'])}, "
        f"{source.bytes_text(analysis['live_at_end'])} live at the end",
        width,
    )  # fmt: skip
    if run.status.get("error"):
        lines += textwrap.wrap(
            f"The recording ended early: {run.status['error']}. What came later was not seen.",
            width,
        )
    if not found:
        return "\n".join([*lines, "no findings"])
    for number, f in enumerate(found, 1):
        place = f"{f.file.rsplit('/', 1)[-1]}:{f.line}" if f.line else f.file
        lines += ["", *textwrap.wrap(f"{number}. {f.title}  [{f.rule}]  {place}", width)]
        cost = []
        if f.bytes_per_step >= 1:
            cost.append(f"{source.bytes_text(f.bytes_per_step)} a step")
        if f.bytes_now:
            cost.append(f"{source.bytes_text(f.bytes_now)} so far")
        if f.outlook:
            cost.append(f.outlook)
        for name, value in (("cost", ", ".join(cost)), ("holder", f.holder),
                            ("seen", f.evidence)):  # fmt: skip
            if value:
                lines += textwrap.wrap(value, width, initial_indent=f"   {name:<7}",
                                       subsequent_indent=" " * 10)  # fmt: skip
        lines += [f"   {'fix' if i == 0 else '':<7}{line}" for i, line in
                  enumerate(f.fix.splitlines())]  # fmt: skip
    return "\n".join(lines)
