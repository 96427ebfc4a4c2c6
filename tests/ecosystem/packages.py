"""What packages.tsv says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass
class Package:
    """One line: a package, what it is made of, and how its program ends."""

    name: str
    alone: list[str]  # installed without what they require, which would be TensorFlow
    needs: list[str]
    there: str  # on TensorFlow
    here: str  # on Tidemark: "passes", or "fails: " and why

    @property
    def program(self) -> Path:
        return HERE / "programs" / f"use_{self.name}.py"


def known() -> dict[str, Package]:
    """The packages by name."""
    found = {}
    for line in (HERE / "packages.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, alone, needs, there, here = line.split("\t")
            found[name] = Package(name, alone.split(), needs.split(), there, here)
    return found
