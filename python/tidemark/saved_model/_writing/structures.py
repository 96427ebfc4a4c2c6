"""Arguments and results as TensorFlow's ``StructuredValue``, from what ``_structure`` encodes."""

from __future__ import annotations

import inspect

from tidemark._proto.saved_model import FunctionSpec, StructuredValue
from tidemark._v1.graph_def.values import shape_message
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import TensorShape

_NUMBERS = {"int": "int32", "float": "float32", "complex": "complex64"}  # of Python numbers


class NoFormError(Exception):
    """TensorFlow's files have no form for something; the text says for what."""


def structured(encoded):
    """The message of an encoded value; NoFormError where TensorFlow has no form for it."""
    made = StructuredValue()
    if encoded is None:
        made.none_value.SetInParent()
    elif isinstance(encoded, bool):
        made.bool_value = encoded
    elif isinstance(encoded, int):
        made.zigzag = encoded << 1 if encoded >= 0 else (-encoded << 1) - 1
    elif isinstance(encoded, float):
        made.float64_value = encoded
    elif isinstance(encoded, str):
        made.string_value = encoded
    else:
        ((kind, inside),) = encoded.items()
        write = _WRITERS.get(kind)
        if write is None:
            what = inside[0] if kind == "composite" else kind
            raise NoFormError(f"an argument or result that is a {what}")
        write(made, inside)
    return made


def _number(made, name):
    _spec(made, [[], _NUMBERS[name], None])


def _spec(made, parts):
    sizes, dtype, name = parts
    spec = made.tensor_spec_value
    spec.name = name or ""
    spec.shape.CopyFrom(shape_message(TensorShape(sizes)))
    spec.dtype = as_dtype(dtype).as_datatype_enum


def _shape(made, sizes):
    made.tensor_shape_value.CopyFrom(shape_message(TensorShape(sizes)))
    made.tensor_shape_value.SetInParent()


def _dtype(made, name):
    made.tensor_dtype_value = as_dtype(name).as_datatype_enum


def _list(made, parts):
    made.list_value.SetInParent()
    made.list_value.values.extend(structured(part) for part in parts)


def _tuple(made, parts):
    made.tuple_value.SetInParent()
    made.tuple_value.values.extend(structured(part) for part in parts)


def _dict(made, pairs):
    made.dict_value.SetInParent()
    for key, part in pairs:
        if not isinstance(key, str):
            raise NoFormError(f"a dictionary with the key {key!r} among arguments or results")
        made.dict_value.fields[key].CopyFrom(structured(part))


def _named(made, parts):
    name, fields, values = parts
    made.named_tuple_value.name = name
    for field, value in zip(fields, values, strict=True):
        made.named_tuple_value.values.add(key=field).value.CopyFrom(structured(value))


_WRITERS = {"number": _number, "spec": _spec, "shape": _shape, "dtype": _dtype, "list": _list,
            "tuple": _tuple, "dict": _dict, "ordered": _dict, "named": _named}  # fmt: skip


def _with_names(encoded, names):
    """The encoded positional arguments, with the parameter's name in specs that have none."""
    out = []
    for at, part in enumerate(encoded):
        if isinstance(part, dict) and "spec" in part and part["spec"][2] is None:
            name = names[at] if at < len(names) else None
            part = {"spec": [*part["spec"][:2], name]}
        out.append(part)
    return out


def arguments(encoded, parameters):
    """The message of a trace's arguments, as ``encode_trace`` has them: (args, kwargs)."""
    args, kwargs = encoded["tuple"]
    names = [name for name, _, _ in parameters or ()]
    return structured({"tuple": [{"tuple": _with_names(args["tuple"], names)}, kwargs]})


def results(encoded):
    """The message of a trace's results, given a spec for each tensor among them."""
    return structured(encoded)


def function_spec(parameters, input_signature=None):
    """What Python has to know of a function's parameters, as TensorFlow's ``FullArgSpec``."""
    kinds, none = inspect.Parameter, {"none": None}
    plain = [p for p in parameters if p[1] <= int(kinds.POSITIONAL_OR_KEYWORD)]
    only = [p for p in parameters if p[1] == int(kinds.KEYWORD_ONLY)]
    named = {p[1]: p[0] for p in parameters}
    given = [default["is"] for _, _, default in plain if default != none]
    fields = {
        "args": {"list": [name for name, _, _ in plain]},
        "varargs": named.get(int(kinds.VAR_POSITIONAL)),
        "varkw": named.get(int(kinds.VAR_KEYWORD)),
        "defaults": {"tuple": given} if given else None,
        "kwonlyargs": {"list": [name for name, _, _ in only]},
        "kwonlydefaults": {"dict": [[n, d["is"]] for n, _, d in only if d != none]}
        if only
        else None,
        "annotations": {"dict": []},
    }
    made = FunctionSpec()
    made.fullargspec.CopyFrom(
        structured({"named": ["FullArgSpec", list(fields), list(fields.values())]})
    )
    made.input_signature.CopyFrom(structured(input_signature))
    return made


__all__ = ["NoFormError", "arguments", "function_spec", "results", "structured"]
