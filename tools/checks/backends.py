"""Fails where code above a device's own asks for it by name, and where a kernel names no device.

The code of a kind of device stands in src/tidemark/kernels/<kind>/. Everybody else asks the backend
contract (src/tidemark/base/backend.h), which one file fills. Tests may look inside. Kernels of the
library say whose they are; the short forms are for libraries of users.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, problems_in, report

KINDS = ("cpu", "emulated", "cuda")
# The emulated device computes with the CPU's kernels.
ALSO = {"emulated": {"cpu"}}
FILLS_THE_CONTRACT = Path("src/tidemark/upcalls.cpp")
KERNELS = ("src", "tidemark", "kernels")
LIBRARY = ("src", "tidemark")

INSIDE = re.compile(rf'#\s*include\s*["<]tidemark/kernels/({"|".join(KINDS)})/')
KIND_OF_KERNEL = re.compile(r"\bKernelKind::")
WITHOUT_A_KIND = re.compile(r"\b(TIDEMARK_KERNEL\(|TypedKernels<)")


def is_test(path: Path) -> bool:
    return path.name.endswith(("_test.cpp", "testing.h")) or path.parts[0] == "tests"


def may_include(path: Path, kind: str) -> bool:
    own = path.parts[3] if path.parts[:3] == KERNELS else None
    return own == kind or kind in ALSO.get(own, ())


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one file, given its path in the project."""
    if path.parts[:2] != LIBRARY or path == FILLS_THE_CONTRACT or is_test(path):
        return []
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        match = INSIDE.search(line)
        if match and not may_include(path, match[1]):
            problems.append(
                f"{path}:{number}: only kernels/{match[1]}/ includes what is there: ask the "
                "backend (src/tidemark/base/backend.h)"
            )
        if WITHOUT_A_KIND.search(code):
            problems.append(
                f"{path}:{number}: kernels of the library name their kind: TIDEMARK_KERNEL_OF, "
                "TypedKernelsOf (include/tidemark/kernel.h)"
            )
        if KIND_OF_KERNEL.search(code) and path.parts[:3] != KERNELS:
            problems.append(
                f"{path}:{number}: which kind of kernel a device runs is its backend's to say "
                "(src/tidemark/base/backend.h)"
            )
    return problems


def check(root: Path) -> list[str]:
    return problems_in(cpp_files(root), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
