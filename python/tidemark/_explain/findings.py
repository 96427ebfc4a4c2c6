"""Findings: what is wrong with a program's memory, what it costs, and the fix."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark._explain import advice, chains, edits, growth, rounds, rules, source, to_change

_MOST_PLACES = 5
_ALL_BUT_THE_END = 0.75  # of all ops
_OF_TAPES = ("history-kept", "persistent-tape")


@dataclass
class Finding:
    """One thing worth changing, and the line to change."""

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
    overhead_per_step: float = 0.0  # headers and rounding: not what the program asked for
    chain: chains.Chain | None = None
    made_at: tuple = ()  # places that only made the bytes
    function: str = ""  # of the program, which a rule is about
    changes: list = field(default_factory=list)  # (file, text before, after), the best first
    device: str = ""  # where the bytes lie; "": on the CPU

    @property
    def diff(self):
        """The first change, as `patch` takes it; "": there is none."""
        return edits.unified(*self.changes[0]) if self.changes else ""

    def to_json(self):
        return {
            "rule": self.rule, "title": self.title, "file": self.file, "line": self.line,
            "holder": self.holder, "bytes_per_step": round(self.bytes_per_step),
            "bytes_now": self.bytes_now, "verdict": self.verdict, "evidence": self.evidence,
            "outlook": self.outlook, "fix": self.fix,
            "overhead_per_step": round(self.overhead_per_step), "made_at": list(self.made_at),
            "chain": self.chain.to_json() if self.chain else [],
            "root": self.chain.root if self.chain else "", "diff": self.diff,
            "device": self.device or "cpu:0",
        }  # fmt: skip


def find(run, all_rules=None):
    """All findings of a run, the most costly first."""
    found = _found_by(run, all_rules or rules.ALL)
    for part in run.of_devices():
        found += _found_by(part, rules.OF_DEVICES)
    return sorted(found, key=lambda f: (-f.bytes_per_step, -f.bytes_now, f.rule))


def _found_by(run, some_rules):
    """What rules find in the buffers of one device, and when its limit is hit."""
    found = [_finding(raw, run) for rule in some_rules for raw in rule(run)]
    found = _together([one for one in found if not _was_made_once(one, run)])
    limit, live = run.limit, run.analysis["live_at_end"]
    for finding in found:
        finding.device = run.device
        left = growth.steps_until(limit, live, finding.bytes_per_step + finding.overhead_per_step)
        if left is not None and not finding.outlook:
            finding.outlook = (
                f"in {left:,} steps the limit of {source.bytes_text(limit)} is hit"
                if left < 10**9
                else ""
            )
    return found


def _was_made_once(finding, run):
    """Whether it grew in one statement that runs once, or in a cache of a dataset, and the program
    went on without: its data, and not a leak."""
    is_over = run.analysis["steps"].get("until", 1.0) < _ALL_BUT_THE_END
    if not is_over or finding.verdict != growth.GROWING:
        return False
    if finding.rule == "dataset-buffer":
        return "cache" in finding.holder
    is_gathered = finding.rule == "tensors-gathered"
    return is_gathered and rounds.runs_once(finding.file, finding.line)


def _together(found):
    """What is one line's doing is told once: a thing that grows may keep several sorts of bytes."""
    kept = {}
    for finding in found:
        grower = finding.chain.grower if finding.chain else None
        key = finding.rule, finding.file, finding.line, grower
        if grower is None or not finding.line or key not in kept:
            kept.setdefault(key if grower and finding.line else id(finding), finding)
            continue
        first = kept[key]
        first.bytes_per_step += finding.bytes_per_step
        first.overhead_per_step += finding.overhead_per_step
        first.bytes_now += finding.bytes_now
        first.made_at = tuple(dict.fromkeys((*first.made_at, *finding.made_at)))[:_MOST_PLACES]
        if finding.verdict == growth.GROWING:
            first.verdict = growth.GROWING
    return list(kept.values())


def _finding(raw, run):
    """What a rule tells, with the chain of its bytes and the line to change."""
    keys, owner, is_at_call = raw.pop("keys"), raw.pop("owner"), raw.pop("is_at_call")
    finding = Finding(**raw)
    finding.made_at = _places(keys) or _places([(f"{_base(raw['file'])}:{raw['line']}",)])
    seen = run.seen.chains
    what = ""
    if keys:
        size = finding.bytes_per_step or finding.bytes_now
        what = chains.first_words(keys[0][1], size)
    if owner is not None:
        finding.chain = seen.of_owner(*owner, what)
        if owner[0] == "graph" and finding.chain and finding.chain.grower is None:
            finding.chain = None  # one graph takes the nodes: nobody keeps more and more of them
    if finding.chain is None:
        finding.chain = seen.of_groups(keys, what, raw["rule"] == "reference-cycle")
    is_one_tape = finding.rule in _OF_TAPES and (finding.chain is None or not finding.chain.grower)
    is_at_call = is_at_call or is_one_tape  # no other line could keep it from recording on
    grows = finding.verdict == growth.GROWING and finding.bytes_per_step > 0
    if not is_at_call:
        sorts = [*([owner] if owner is not None else ()), *keys]
        finding.file, finding.line, finding.chain = to_change.find(
            finding, sorts, grows, run.seen.additions
        )
    if keys and grows:
        _count_rounds(finding, run)
    finding.changes = advice.changes(finding)
    finding.fix = advice.advise(finding, finding.changes)
    return finding


def _count_rounds(finding, run):
    """A step is a round of the loop that the line to change belongs to, or of one around it: bytes
    were counted by the rounds of the loop that many lines run in."""
    steps = run.analysis["steps"]
    counted_at, counted, _ = source.parse_place(steps["place"])
    lines = {}
    for at, times in steps.get("lines", {}).items():
        file, number, _ = source.parse_place(at)
        if number:
            lines[source.full_path(file), number] = times
    count = rounds.rounds_of(finding.file, finding.line, lines)
    if not count or not counted:
        return
    if count > steps["count"]:
        of_step = rounds.loops_around(source.full_path(counted_at), counted)[:1]
        if set(of_step) & set(rounds.loops_around(finding.file, finding.line)[1:]):
            return
    count = rounds.steps_of(finding.file, finding.line, count, run.seen.additions.trips)
    finding.bytes_per_step *= steps["count"] / count
    finding.overhead_per_step *= steps["count"] / count


def _base(file):
    return file.rsplit("/", 1)[-1]


def _places(keys):
    places = dict.fromkeys(key[0] for key in keys if source.parse_place(key[0])[1])
    return tuple(places)[:_MOST_PLACES]


def _chain_lines(words, width, indent):
    """The links of a chain, as many as fit on a line, none broken where that can be helped."""
    import textwrap  # loaded on first use

    lines, line = [], ""
    for at, word in enumerate(words):
        part = word if at == 0 else f"← {word}"
        if line and len(line) + 1 + len(part) > width - indent:
            lines.append(line)
            line = part
        else:
            line = f"{line} {part}".lstrip()
    return [part for one in [*lines, line]
            for part in textwrap.wrap(one, width - indent, subsequent_indent="  ")]  # fmt: skip


def course(run):
    """What memory did, in words: "growing by 64 KiB a step, peak …"."""
    analysis = run.analysis
    verdict = growth.overall(analysis)
    told = verdict.verdict
    if verdict.is_growing:
        told = f"growing by {source.bytes_text(verdict.bytes_per_step)} a step"
    return (
        f"{told}, peak {source.bytes_text(analysis['peak'])}, "
        f"{source.bytes_text(analysis['live_at_end'])} live at the end"
    )


def _worked(run):
    """What a device's time went into: "; worked 1.2 s: matmul 60 %, …"."""
    by_op = {}
    for device, op, _, _, took in run.analysis.get("work", ()):
        if device == run.device:
            by_op[op] = by_op.get(op, 0) + took
    whole = sum(by_op.values())
    if not whole:
        return ""
    most = sorted(by_op.items(), key=lambda item: -item[1])[:3]
    parts = ", ".join(f"{op} {took / whole:.0%}" for op, took in most)
    return f"; worked {whole / 1e9:.3g} s: {parts}"


def text(found, run, width=80, can_fix=True):
    """For a terminal of 80 columns."""
    import textwrap  # loaded on first use

    steps = run.analysis["steps"]
    lines = []
    where = f" ({steps['how']}{' at ' + steps['place'] if steps['place'] else ''})"
    lines += textwrap.wrap(
        f"{steps['count']:,} steps{where if steps['count'] else ''}: {course(run)}", width
    )
    for part in run.of_devices():
        lines += textwrap.wrap(f"{part.device}: {course(part)}{_worked(part)}", width)
    if run.status.get("error"):
        lines += textwrap.wrap(
            f"The recording ended early: {run.status['error']}. What came later was not seen.",
            width,
        )
    if not found:
        return "\n".join([*lines, "no findings"])
    for number, f in enumerate(found, 1):
        place = f"{_base(f.file)}:{f.line}" if f.line else f.file
        lines += ["", *textwrap.wrap(f"{number}. {f.title}  [{f.rule}]  {place}", width,
                                    break_on_hyphens=False)]  # fmt: skip
        cost = []
        if f.bytes_per_step >= 1:
            there = f" on {f.device}" if f.device else ""
            cost.append(f"{source.bytes_text(f.bytes_per_step)} a step{there}")
        if f.overhead_per_step > f.bytes_per_step:
            cost.append(f"{source.bytes_text(f.overhead_per_step)} of headers and rounding")
        if f.bytes_now:
            cost.append(f"{source.bytes_text(f.bytes_now)} so far")
        if f.outlook:
            cost.append(f.outlook)
        made = [place for place in f.made_at if source.parse_place(place)[1] != f.line]
        for name, value in (("cost", ", ".join(cost)), ("holder", "" if f.chain else f.holder),
                            ("made", "; ".join(made)), ("seen", f.evidence)):  # fmt: skip
            if value:
                lines += textwrap.wrap(value, width, initial_indent=f"   {name:<7}",
                                       subsequent_indent=" " * 10)  # fmt: skip
        if f.chain:
            told = _chain_lines(f.chain.words(), width, 10)
            lines += [f"   {'kept' if i == 0 else '':<7}{line}" for i, line in enumerate(told)]
        lines += [f"   {'fix' if i == 0 else '':<7}{line}" for i, line in
                  enumerate(f.fix.splitlines())]  # fmt: skip
    count = sum(bool(f.changes) for f in found)
    if count and can_fix:
        those = "It" if len(found) == 1 else f"{count} of these" if count > 1 else "One of these"
        has = "have" if count > 1 else "has"
        lines += ["", f"{those} {has} a change to try: tidemark doctor --fix SCRIPT"]
    return "\n".join(lines)
