"""Every name of TensorFlow that Keras 3 refers to is there."""

import sys
from pathlib import Path

import pytest
from tidemark._tensorflow import unsupported

import tidemark as tf

NAMES = (Path(__file__).parent / "data" / "keras_names.txt").read_text().split()


def resolve(name):
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_resolves(name):
    found = resolve(name)
    if unsupported.reason_of(name) is not None:
        refusals = (tf.errors.UnimplementedError, tf.errors.NotFoundError)
        with pytest.raises(refusals, match=r"is not supported: \w+"):
            found()


def test_what_is_unsupported_can_be_compared_and_subclassed():
    assert not isinstance(3, tf.lite.Interpreter)
    with pytest.raises(tf.errors.UnimplementedError, match="from_keras_model"):
        tf.lite.TFLiteConverter.from_keras_model(None)
    with pytest.raises(AttributeError):
        tf.nothing_of_that_name  # noqa: B018
    with pytest.raises(AttributeError):
        tf.lite.nothing_of_that_name  # noqa: B018


def test_keras_says_when_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    assert not hasattr(tf, "keras")
    with pytest.raises(AttributeError, match="pip install keras"):
        tf.keras  # noqa: B018
