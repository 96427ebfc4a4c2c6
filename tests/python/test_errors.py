"""tf.errors: one class a status code, with TensorFlow's attributes."""

import pickle

import pytest

import tidemark as tf

CLASSES = {
    1: "CancelledError", 2: "UnknownError", 3: "InvalidArgumentError", 4: "DeadlineExceededError",
    5: "NotFoundError", 6: "AlreadyExistsError", 7: "PermissionDeniedError",
    8: "ResourceExhaustedError", 9: "FailedPreconditionError", 10: "AbortedError",
    11: "OutOfRangeError", 12: "UnimplementedError", 13: "InternalError", 14: "UnavailableError",
    15: "DataLossError", 16: "UnauthenticatedError",
}  # fmt: skip


@pytest.mark.parametrize(("code", "name"), CLASSES.items())
def test_classes(code, name):
    error = getattr(tf.errors, name)(None, "op", "boo", {"payload": 1})
    assert isinstance(error, tf.errors.OpError) and isinstance(error, Exception)
    assert (error.error_code, error.message, error.op, error.node_def) == (code, "boo", "op", None)
    assert str(error) == "boo" and error.experimental_payloads == {"payload": 1}
    assert tf.errors.exception_type_from_error_code(code) is type(error)
    assert tf.errors.error_code_from_exception_type(type(error)) == code
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.message == "boo"


def test_codes():
    assert (tf.errors.OK, tf.errors.INVALID_ARGUMENT, tf.errors.UNAUTHENTICATED) == (0, 3, 16)


def test_ops_raise_them_with_a_message():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.reshape(tf.range(6), [4])
    assert caught.value.error_code == tf.errors.INVALID_ARGUMENT
    assert "6" in caught.value.message and "4" in caught.value.message
    assert caught.value.node_def is None and caught.value.op is None


def test_errors_do_not_chain_or_hold_tensors():
    import gc
    import weakref

    x = tf.ones([3])
    alive = weakref.ref(x) if hasattr(type(x), "__weakref__") or _weak(x) else None
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.reshape(x, [7])
    assert caught.value.__cause__ is None
    del x, caught
    gc.collect()
    assert alive is None or alive() is None


def _weak(x):
    import weakref

    try:
        weakref.ref(x)
    except TypeError:
        return False
    return True
