"""What `import tidemark` adds to a process that has numpy: resident memory and time."""

from case import CODE_KEPT, Case, Row, Script

# What numpy imports itself is there before the clock starts; nothing of the harness is loaded.
SOURCE = """
import time
import numpy
def resident():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(l.split()[1]) for l in lines if l.startswith("Rss:")) / 1024
before = resident()
start = time.perf_counter_ns()
import {module}
spent = time.perf_counter_ns() - start
print('{{"import_ns": %d, "resident_mib": %.3f}}' % (spent, resident() - before))
"""


def importing(module: str) -> str:
    return SOURCE.format(module=module)


MODULES = {"tf": "tensorflow", "torch": "torch", "jax": "jax, jax.numpy"}
KEPT = Script("code kept", importing("tidemark"), environment="tidemark", variables=CODE_KEPT)
PEERS = [Script(name, importing(module), rounds=3) for name, module in MODULES.items()]

CASE = Case(
    about="resident memory and time of the import, over `import numpy`",
    subjects=[Script("tidemark", importing("tidemark")), KEPT, *PEERS],
    rows=[
        Row("import, memory", "tidemark.resident_mib", at_most=12, unit="MiB"),
        Row("  … code kept", "code kept.resident_mib", at_most=12, unit="MiB"),
        *[
            Row(f"  of {p.name}", "tidemark.resident_mib", f"{p.name}.resident_mib", unit="MiB")
            for p in PEERS
        ],
        Row("import, time", "tidemark.import_ns", at_most=40e6, unit="ns"),
        *[
            Row(f"  of {p.name}", "tidemark.import_ns", f"{p.name}.import_ns", unit="ns")
            for p in PEERS
        ],
    ],
    rounds=8,
)
