"""``and``, ``or``, ``not``, ``==``, ``!=`` and conditional expressions."""

from __future__ import annotations

import tidemark as tf
from tidemark.autograph import _staging
from tidemark.autograph._context import current_scope
from tidemark.autograph._staged_if import staged_expression


def if_exp(test, if_true, if_false, text):
    """``if_true() if test else if_false()``."""
    if _staging.is_staged(test):
        return staged_expression(test, if_true, if_false, text)
    return if_true() if test else if_false()


def _as_bool(value):
    value = tf.convert_to_tensor(value)
    return value if value.dtype == tf.bool else tf.cast(value, tf.bool)


def and_(left, right):
    """``left() and right()``; what is right is computed only when it matters."""
    value = left()
    if not _staging.is_staged(value):
        return value and right()
    value = _as_bool(value)
    return _staging.cond(value, lambda: _as_bool(right()), lambda: value)


def or_(left, right):
    """``left() or right()``; what is right is computed only when it matters."""
    value = left()
    if not _staging.is_staged(value):
        return value or right()
    value = _as_bool(value)
    return _staging.cond(value, lambda: value, lambda: _as_bool(right()))


def not_(value):
    """``not value``."""
    if not _staging.is_staged(value):
        return not value
    result = tf.logical_not(value)
    scope = current_scope()
    if scope is not None:
        scope.negated = (result, value)
    return result


def eq(left, right):
    """``left == right``."""
    if _staging.is_staged(left) or _staging.is_staged(right):
        return tf.equal(left, right)
    return left == right


def not_eq(left, right):
    """``left != right``."""
    if _staging.is_staged(left) or _staging.is_staged(right):
        return tf.not_equal(left, right)
    return left != right


def assert_stmt(test, message):
    """``assert test, message()``; without a message it is None."""
    if _staging.is_staged(test):
        tf.debugging.Assert(test, ["assertion failed" if message is None else _as_text(message())])
    elif not test:
        raise AssertionError() if message is None else AssertionError(message())


def _as_text(message):
    return message if isinstance(message, str) or _staging.is_tensor(message) else str(message)
