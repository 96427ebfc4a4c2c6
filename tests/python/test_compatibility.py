"""docs/compatibility.md says what the package is."""

import sys
from pathlib import Path

import pytest
from tidemark._tensorflow import differences, unsupported

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gen_compatibility  # noqa: E402


def test_the_page_is_up_to_date():
    assert gen_compatibility.PAGE.read_text() == gen_compatibility.page(), (
        "run tools/gen_compatibility.py"
    )


def test_only_what_is_there_differs():
    for name in differences.DIFFERENCES:
        assert gen_compatibility.status(name) == "here", name


@pytest.mark.parametrize("name", sorted(unsupported.UNSUPPORTED))
def test_refused_names_say_why(name):
    found = gen_compatibility.resolve(name)
    # Keras catches the second, and goes on without cuDNN's loop.
    kind = tf.errors.NotFoundError if "CudnnRNN" in name else tf.errors.UnimplementedError
    with pytest.raises(kind, match="is not supported: "):
        found()


def test_refused_names_are_tensorflows():
    theirs = {f"{m}.{n}" for m, names in gen_compatibility.recorded().items() for n in names}
    assert set(unsupported.UNSUPPORTED) <= theirs
