"""Every name of TensorFlow that Keras 3 refers to is there."""

from pathlib import Path

import pytest

import tidemark as tf
from tidemark import _unsupported

NAMES = (Path(__file__).parent / "data" / "keras_names.txt").read_text().split()
# Parts of TensorFlow that come with later work; each prefix leaves this list with it.
LATER = (
    "tf.__internal__.FuncGraph",
    "tf.as_string",
    "tf.audio",
    "tf.autograph",
    "tf.data",
    "tf.function",
    "tf.image.decode_image",
    "tf.image.sobel_edges",
    "tf.inside_function",
    "tf.io",
    "tf.keras",
    "tf.linalg.eig",
    "tf.linalg.qr",
    "tf.lookup",
    "tf.nn.ctc_",
    "tf.nn.depth_to_space",
    "tf.nn.embedding_lookup_sparse",
    "tf.nn.safe_embedding_lookup_sparse",
    "tf.nn.space_to_depth",
    "tf.quantization",
    "tf.random.stateless_binomial",
    "tf.random.stateless_gamma",
    "tf.required_space_to_batch_paddings",
    "tf.saved_model",
    "tf.sets",
    "tf.sparse.cross_hashed",
    "tf.strings",
    "tf.summary",
    "tf.train",
    "tf.compat.v1.nn.ctc_",
)


def resolve(name):
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(LATER)])
def test_resolves(name):
    found = resolve(name)
    if name in _unsupported.UNSUPPORTED:
        with pytest.raises(tf.errors.UnimplementedError, match=r"is not supported: \w+"):
            found()


def test_what_is_unsupported_can_be_compared_and_subclassed():
    assert not isinstance(3, tf.lite.Interpreter)
    with pytest.raises(tf.errors.UnimplementedError, match="from_keras_model"):
        tf.lite.TFLiteConverter.from_keras_model(None)
    with pytest.raises(AttributeError):
        tf.nothing_of_that_name  # noqa: B018
    with pytest.raises(AttributeError):
        tf.lite.nothing_of_that_name  # noqa: B018
