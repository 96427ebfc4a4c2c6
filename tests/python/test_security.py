"""docs/security.md names the tests that hold what it says."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_every_test_that_is_named_is_there():
    text = (HERE.parents[1] / "docs" / "security.md").read_text()
    files = {path.name for path in HERE.glob("test_*.py")}
    functions = {
        name for path in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }  # fmt: skip
    named = re.findall(r"`(test_\w+(?:\.py)?)`", text)
    assert len(named) > 40
    assert not [name for name in named if name not in files | functions]
