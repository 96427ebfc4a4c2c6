"""What a benchmark case is made of.

A case is one file in ``cases/`` that sets ``CASE``::

    def tidemark(options):
        import tidemark as tf
        a = tf.constant([1.0, 2.0])
        return {"add_ns": best_ns(lambda: a + a, calls=20000)}

    CASE = Case(
        about="a + a of two floats, against torch",
        subjects=[InPython("tidemark", tidemark), InPython("torch", torch)],
        rows=[Row("a + a", "tidemark.add_ns", "torch.add_ns", at_most_ratio=0.35, unit="ns")],
    )

Every subject is measured in a process of its own. A round runs each subject once, so that all
of them see the same weather; over the rounds the best value of each measurement counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Values = dict[str, float]

# Tidemark without unmapping the code that only compiling needs. Every figure of resident memory is
# given with this as well, so that it can be seen how much of it is due to the unmapping.
CODE_KEPT = (("TIDEMARK_IDLE_CODE", "keep"),)


@dataclass(frozen=True)
class Options:
    """What a measuring function is told."""

    quick: bool = False

    def pick(self, full, quick):
        return quick if self.quick else full


@dataclass(frozen=True)
class InPython:
    """``measure`` runs in the Python of ``environment`` (default: the one named as the subject)."""

    name: str
    measure: Callable[[Options], Values]
    environment: str = ""
    rounds: int | None = None
    variables: tuple[tuple[str, str], ...] = ()  # of the process's environment, beside the usual

    @property
    def where(self) -> str:
        return self.environment or self.name


@dataclass(frozen=True)
class Script:
    """``source`` is all that the Python of ``environment`` runs, with nothing of the harness."""

    name: str
    source: str
    environment: str = ""
    rounds: int | None = None
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def where(self) -> str:
        return self.environment or self.name


@dataclass(frozen=True)
class InCpp:
    """The benchmark ``benchmark`` of the program built from ``cpp/``."""

    name: str
    benchmark: str
    rounds: int | None = None
    variables: tuple[tuple[str, str], ...] = ()
    where: str = field(default="cpp", init=False)


Subject = InPython | Script | InCpp


@dataclass(frozen=True)
class Row:
    """One line of the table. ``value`` and ``peer`` name a measurement as ``subject.measurement``.

    With ``at_most_ratio`` the bar is on value / peer, with ``at_most`` on the value itself; with
    neither the row only informs. ``peer`` may list several measurements: the best of them counts.
    ``peer_scale`` turns the peer's figure into what is compared with (bytes moved against bytes
    copied); ``peer_label`` is the peer's name in the table, by default its subject's.
    """

    what: str
    value: str
    peer: str | tuple[str, ...] = ()
    at_most_ratio: float | None = None
    at_most: float | None = None
    unit: str = ""
    peer_scale: float = 1.0
    peer_label: str = ""

    @property
    def peers(self) -> tuple[str, ...]:
        return (self.peer,) if isinstance(self.peer, str) else self.peer


@dataclass(frozen=True)
class Case:
    about: str
    subjects: list[Subject]
    rows: list[Row]
    rounds: int = 3
    # Measurements of which the largest value of all rounds counts, not the smallest (growth).
    worst_of: frozenset[str] = frozenset()
