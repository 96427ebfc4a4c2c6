"""What holds while converted code runs: whether calls are converted, and how."""

from __future__ import annotations

import ast
import contextlib
import enum
import threading

_thread = threading.local()


class Feature(enum.Enum):
    """Optional parts of the conversion.

    ``BUILTIN_FUNCTIONS`` makes ``print`` of tensors a ``tf.print``; ``EQUALITY_OPERATORS`` makes
    ``==`` and ``!=`` of tensors ``tf.equal`` and ``tf.not_equal``. Lists and assertions are always
    converted here; the other names are accepted, as TensorFlow's programs use them.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """A tuple of all of them."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """A tuple of all but some."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


def _names_of(features):
    if features is None:
        return frozenset()
    if isinstance(features, (Feature, str)):
        features = (features,)
    return frozenset(getattr(feature, "name", feature) for feature in features)


class Options:
    """How a function is converted; equal options give the same code."""

    __slots__ = ("recursive", "user_requested", "features")

    def __init__(self, recursive=True, user_requested=False, features=()):
        self.recursive = recursive
        self.user_requested = user_requested  # asked for by name, so exemptions do not count
        self.features = _names_of(features)

    def uses(self, feature):
        return "ALL" in self.features or feature.name in self.features

    def key(self):
        return (self.recursive, self.user_requested, self.features)

    def call_options(self):
        """For the functions that the converted one calls."""
        return Options(self.recursive, False, self.features)

    def to_ast(self):
        names = tuple(sorted(self.features))
        source = f"ag__.Options({self.recursive}, {self.user_requested}, {names!r})"
        return ast.parse(source, mode="eval").body


class Status(enum.Enum):
    """Whether the calls of this thread are to be converted."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A context with a given status."""

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _stack("statuses").append(self)
        return self

    def __exit__(self, *error):
        _stack("statuses").pop()


def _stack(name):
    stack = getattr(_thread, name, None)
    if stack is None:
        stack = []
        setattr(_thread, name, stack)
    return stack


_UNSPECIFIED = ControlStatusCtx(Status.UNSPECIFIED)


def control_status_ctx():
    """The innermost context of this thread."""
    stack = _stack("statuses")
    return stack[-1] if stack else _UNSPECIFIED


class FunctionScope:
    """Stands around the body of a converted function while it runs."""

    def __init__(self, function_name, name, options):
        self.function_name = function_name
        self.name = name  # of the variable that holds this scope, by which its frame is found
        self.options = options
        self.callopts = options.call_options()
        self.loops = 0  # around the statement that runs now, within this function
        self.missing_return = None  # what to say if no later statement returns a value
        self.negated = (None, None)  # the last "not" of a tensor: its result, what it was of

    def __enter__(self):
        _stack("scopes").append(self)
        if self.options.user_requested:
            _stack("statuses").append(ControlStatusCtx(Status.ENABLED, self.options))
        return self

    def __exit__(self, *error):
        _stack("scopes").pop()
        if self.options.user_requested:
            _stack("statuses").pop()

    def ret(self, value, did_return):
        """What the function returns, given whether it met a return statement."""
        from tidemark.autograph._returns import returned  # it imports this module

        return returned(value, did_return, self.missing_return)


@contextlib.contextmanager
def inside_loop():
    """The context in which the body of a loop runs."""
    scope = current_scope()
    if scope is not None:
        scope.loops += 1
    try:
        yield
    finally:
        if scope is not None:
            scope.loops -= 1


def negated_by(result):
    """The tensor of which the given one was computed as "not", just before; None if it was not."""
    scope = current_scope()
    return scope.negated[1] if scope is not None and scope.negated[0] is result else None


def current_scope():
    """The scope of the converted function that runs in this thread; None outside of them."""
    stack = _stack("scopes")
    return stack[-1] if stack else None


def with_function_scope(thunk, name, options):
    """Runs the body of a converted lambda."""
    with FunctionScope("<lambda>", name, options) as scope:
        return thunk(scope)
