"""The errors ops raise, typed as TensorFlow's: ``tf.errors.InvalidArgumentError`` and its kin.

try:
    tf.reshape(tf.range(6), [4])
except tf.errors.InvalidArgumentError as error:
    print(error.error_code, error.message)
"""

from __future__ import annotations

from tidemark import _tidemark

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op failed. ``message`` says what was given, what is allowed and what to do."""

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = args[0] if args else {}

    message = property(lambda self: self._message, doc="What went wrong.")
    op = property(lambda self: self._op, doc="The operation of a graph that failed, or None.")
    error_code = property(lambda self: self._error_code, doc="The number of the kind of error.")
    node_def = property(lambda self: self._node_def, doc="The node of a graph, or None.")
    experimental_payloads = property(lambda self: self._experimental_payloads)

    def __reduce__(self):
        return self.__class__, (self._node_def, self._op, self._message, self._error_code)

    def __str__(self):
        return self._message


class ValueUnknownError(Exception):
    """A size or a value was asked for that only a run of the graph can tell.

    What is raised is also what TensorFlow raises there: an AttributeError by ``numpy()``, a
    TypeError by ``int()``, a ValueError where an argument has to be known.
    """


class OperatorNotAllowedInGraphError(TypeError, ValueUnknownError):
    """A tensor of a graph was used as a Python value: as a bool, or to iterate over."""


def _typed(name, code, doc):
    def __init__(self, node_def, op, message, *args):
        OpError.__init__(self, node_def, op, message, code, *args)

    def __reduce__(self):
        return self.__class__, (self._node_def, self._op, self._message)

    body = {"__init__": __init__, "__reduce__": __reduce__, "__doc__": doc, "__module__": __name__}
    return type(name, (OpError,), body)


CancelledError = _typed("CancelledError", CANCELLED, "The operation was cancelled.")
UnknownError = _typed("UnknownError", UNKNOWN, "An error nobody gave a better type.")
InvalidArgumentError = _typed(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op got an argument it cannot take."
)
DeadlineExceededError = _typed("DeadlineExceededError", DEADLINE_EXCEEDED, "Time ran out.")
NotFoundError = _typed("NotFoundError", NOT_FOUND, "Something named was not there: a file, an op.")
AlreadyExistsError = _typed("AlreadyExistsError", ALREADY_EXISTS, "The name is taken already.")
PermissionDeniedError = _typed("PermissionDeniedError", PERMISSION_DENIED, "Not allowed.")
ResourceExhaustedError = _typed(
    "ResourceExhaustedError",
    RESOURCE_EXHAUSTED,
    "Memory would go over its limit; the message names the wanted bytes and the top holders.",
)
FailedPreconditionError = _typed(
    "FailedPreconditionError", FAILED_PRECONDITION, "The system is not in the state the op needs."
)
AbortedError = _typed("AbortedError", ABORTED, "The operation was given up half way.")
OutOfRangeError = _typed("OutOfRangeError", OUT_OF_RANGE, "The end was reached.")
UnimplementedError = _typed(
    "UnimplementedError", UNIMPLEMENTED, "The op does not do this: no kernel for the dtype or case."
)
InternalError = _typed("InternalError", INTERNAL, "A mistake of the runtime itself.")
UnavailableError = _typed("UnavailableError", UNAVAILABLE, "Not available now; try again later.")
DataLossError = _typed("DataLossError", DATA_LOSS, "Data is lost or broken beyond repair.")
UnauthenticatedError = _typed("UnauthenticatedError", UNAUTHENTICATED, "No valid credentials.")

_BY_CODE = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}


def exception_type_from_error_code(error_code):
    """The class of the errors with this number."""
    return _BY_CODE[error_code]


def error_code_from_exception_type(cls):
    """The number of the errors of this class."""
    for code, known in _BY_CODE.items():
        if known is cls:
            return code
    raise KeyError(cls)


class _BadArgumentInTrace(ValueError, InvalidArgumentError):
    """Found while a graph is being built, where TensorFlow raises a ValueError."""

    def __init__(self, node_def, op, message, *args):
        InvalidArgumentError.__init__(self, node_def, op, message, *args)

    __str__ = OpError.__str__
    __reduce__ = InvalidArgumentError.__reduce__


_BadArgumentInTrace.__name__ = _BadArgumentInTrace.__qualname__ = "InvalidArgumentError"


class _RefusedDTypeInTrace(TypeError, _BadArgumentInTrace):
    """A dtype that an op does not take, given while a graph is being built: a TypeError there."""

    __init__ = _BadArgumentInTrace.__init__
    __str__ = OpError.__str__
    __reduce__ = InvalidArgumentError.__reduce__


_RefusedDTypeInTrace.__name__ = _RefusedDTypeInTrace.__qualname__ = "InvalidArgumentError"


class _MissingGradientError(LookupError, UnimplementedError):
    """A gradient without a definition, which TensorFlow reports as a LookupError."""

    def __init__(self, node_def, op, message, *args):
        UnimplementedError.__init__(self, node_def, op, message, *args)

    __str__ = OpError.__str__
    __reduce__ = UnimplementedError.__reduce__


_MissingGradientError.__name__ = _MissingGradientError.__qualname__ = "UnimplementedError"


class _UnknownInOp(FailedPreconditionError, ValueUnknownError):
    """An op asked for it, in C++."""

    def __init__(self, node_def, op, message, *args):
        FailedPreconditionError.__init__(self, node_def, op, message, *args)

    __str__ = OpError.__str__
    __reduce__ = FailedPreconditionError.__reduce__


_UnknownInOp.__name__ = _UnknownInOp.__qualname__ = "FailedPreconditionError"


def _unknown_as(name, *kinds):
    return type(name, (*kinds, ValueUnknownError), {"__module__": __name__})


class _ImaginedSizesRefused(_BadArgumentInTrace, ValueUnknownError):
    """An op refused the sizes imagined for unknown ones; those of a run may do."""


_ImaginedSizesRefused.__name__ = _ImaginedSizesRefused.__qualname__ = "InvalidArgumentError"


class SizeUnknownError(TypeError, ValueError, ValueUnknownError):
    """A function of the library needs a size or an argument that only a run can tell."""


_tidemark.set_error_classes(
    {
        **_BY_CODE,
        17: _BadArgumentInTrace,
        25: _RefusedDTypeInTrace,
        18: OperatorNotAllowedInGraphError,
        19: _MissingGradientError,
        20: _UnknownInOp,
        21: _unknown_as("AttributeError", AttributeError),
        22: _unknown_as("NotImplementedError", NotImplementedError),
        23: _unknown_as("TypeError", TypeError),
        24: _ImaginedSizesRefused,
    }
)
