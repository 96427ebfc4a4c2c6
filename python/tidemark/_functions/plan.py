"""What a call of a traced function will need: the planner's answer, to read and to draw."""

from __future__ import annotations

from typing import NamedTuple

from tidemark._export import export


class PlannedBuffer(NamedTuple):
    """Bytes that live together: a value, its views, and what is written over it."""

    op: str
    line: str
    place: str
    bytes: int
    offset: int
    first: int
    last: int
    written_over_by: list


class PlannedStep(NamedTuple):
    """A step, in the order in which they run; ``load`` is what is alive meanwhile on the plan's
    device, ``device`` where its results lie."""

    op: str
    line: str
    load: int
    device: str = "cpu:0"


class PlannedDevice(NamedTuple):
    """What a call takes of a device beside the plan's; ``loads``: what is alive there, by step."""

    name: str
    peak: int
    lower_bound: int
    arena: int
    results: int
    buffers: list
    loads: list


class PlannedCopy(NamedTuple):
    """A value that is computed on one device and needed on another; ``op`` makes it."""

    step: int
    op: str
    line: str
    source: str
    target: str
    bytes: int


class PlannedReuse(NamedTuple):
    """A result that might have been written over what it was computed from."""

    step: int
    op: str
    bytes: int
    done: bool
    why: str


class PlannedDonation(NamedTuple):
    """An argument that calls give up, and whether a result is written into its memory."""

    argument: str
    bytes: int
    done: bool
    why: str


class PlannedRepeat(NamedTuple):
    """A value that is computed again where it is needed late, instead of being kept."""

    op: str
    line: str
    bytes: int
    why: str


class PlannedPythonStep(NamedTuple):
    """A step in Python, which a call waits for: the library's function that could not be traced,
    or ``py_function``."""

    function: str
    line: str


def _device(name, peak, lower_bound, arena, results, buffers, loads):
    buffers = [PlannedBuffer(*buffer) for buffer in buffers]
    return PlannedDevice(name, peak, lower_bound, arena, results, buffers, loads)


@export("tf.memory.Plan")
class Plan:
    """Made by ``f.plan(*args)``: peak, lower bound, what is alive at the peak and who made it.

    The numbers are those of ``device``, of which a call takes the most; ``devices`` has the others.
    """

    def __init__(self, name, said):
        self.name = name
        self._said = said
        self.steps = [PlannedStep(*step) for step in said["steps"]]
        self.buffers = [PlannedBuffer(*buffer) for buffer in said["buffers"]]
        self.devices = [_device(*device) for device in said["devices"]]
        self.copies = [PlannedCopy(*copy) for copy in said["copies"]]
        self.reuses = [PlannedReuse(*reuse) for reuse in said["reuses"]]
        self.donations = [PlannedDonation(*one) for one in said.get("donations", ())]
        self.repeats = [PlannedRepeat(*repeat) for repeat in said["repeats"]]
        self.python_steps = [PlannedPythonStep(*step) for step in said["python_steps"]]

    def __getattr__(self, name):
        try:
            return self.__dict__["_said"][name]
        except KeyError:
            raise AttributeError(f"a plan has no {name!r}") from None

    @property
    def gap(self):
        """How far the peak lies above the lower bound, as a part of it."""
        return self.peak / self.lower_bound - 1 if self.lower_bound else 0.0

    @property
    def peak_step(self):
        """The index of the step with the highest load; -1: there are none."""
        loads = [step.load for step in self.steps]
        return loads.index(max(loads)) if loads else -1

    def at_peak(self):
        """The buffers alive at the peak, the largest first."""
        at = self.peak_step
        alive = [b for b in self.buffers if b.first <= at <= b.last]
        return sorted(alive, key=lambda b: -b.bytes)

    def to_dict(self):
        """Plain values."""
        out = {key: value for key, value in self._said.items() if key != "text"}
        out["name"] = self.name
        out["steps"] = [step._asdict() for step in self.steps]
        out["buffers"] = [buffer._asdict() for buffer in self.buffers]
        out["devices"] = [
            {**device._asdict(), "buffers": [buffer._asdict() for buffer in device.buffers]}
            for device in self.devices
        ]
        out["copies"] = [copy._asdict() for copy in self.copies]
        out["reuses"] = [reuse._asdict() for reuse in self.reuses]
        out["donations"] = [one._asdict() for one in self.donations]
        out["repeats"] = [repeat._asdict() for repeat in self.repeats]
        out["python_steps"] = [step._asdict() for step in self.python_steps]
        return out

    def to_json(self, indent=None):
        """The same as text."""
        import json  # loaded on first use

        return json.dumps(self.to_dict(), indent=indent)

    def to_html(self):
        """One page: time to the right, offsets up, a rectangle a buffer."""
        from tidemark.cli import plan_page  # only pages need it

        drawn, notes = [], {}
        top = self.arena
        for at, buffer in enumerate(self.buffers):
            offset = buffer.offset
            if buffer.place != "arena":  # drawn above the arena, each on its own
                offset, top = top, top + buffer.bytes
            label = f"{at}: {buffer.op}"
            drawn.append((label, buffer.first, buffer.last + 1, buffer.bytes, offset))
            notes[label] = " · ".join(
                part
                for part in (
                    buffer.place,
                    buffer.line,
                    f"then {', '.join(buffer.written_over_by)}" if buffer.written_over_by else "",
                )
                if part
            )
        shown = {"peak": max(self.peak, top), "lower_bound": self.lower_bound, "buffers": drawn}
        return plan_page.page(self.name, shown, notes)

    def __str__(self):
        return self._said["text"]

    def __repr__(self):
        where = f" on {self.device}" if self.devices else ""
        others = "".join(f", {d.peak:,} on {d.name}" for d in self.devices)
        return (
            f"<tf.memory.Plan of {self.name}: peak {self.peak:,} bytes{where}, lower bound "
            f"{self.lower_bound:,}{others}>"
        )

    def _repr_html_(self):
        import html  # loaded on first use

        return f"<pre>{html.escape(str(self))}</pre>"
