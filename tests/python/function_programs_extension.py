"""More of them: extension types, and functions that a program's own types answer for."""

import copy
import inspect
import typing

import numpy as np
from function_programs import error_of, program, tf

ExtensionType = tf.experimental.ExtensionType


class Masked(ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)

    def filled(self, value):
        return tf.where(self.mask, self.values, value)


class Store(ExtensionType):
    name: str
    prices: typing.Mapping[str, tf.Tensor]
    sizes: tuple[int, ...] = (1, 2)
    rows: typing.Union[tf.Tensor, tf.RaggedTensor] = 0  # noqa: UP007 - as programs write it


class Summary(ExtensionType):
    mean: tf.Tensor
    largest: tf.Tensor

    def __init__(self, values):
        self.mean = tf.reduce_mean(values)
        self.largest = tf.reduce_max(values)


@program
def extension_types_are_values():
    one = Masked([1, 2, 3], [True, False, True])
    store = Store("a", {"x": [1.0, 2.0]}, [3, 4])
    changed = error_of(setattr, one, "values", 3)
    wrong = [error_of(Masked, [1, 2], [True]), error_of(Store, 3, {}), error_of(Masked, [1])]
    summary = Summary([1.0, 2.0, 6.0])
    return [one.values, one.filled(0), store.sizes, store.prices["x"], store.rows, changed, wrong,
            summary.mean, summary.largest, one == Masked([1, 2, 3], [True, False, True]),
            one == Masked([1, 2, 4], [True, False, True]), one != 3,
            list(inspect.signature(Store).parameters),
            tf.experimental.extension_type.as_dict(one)["mask"], copy.copy(one).mask]  # fmt: skip


@program
def extension_types_through_functions():
    traces = []

    @tf.function
    def doubled(x):
        traces.append(x.values.shape.as_list())
        return Masked(x.values * 2, x.mask)

    @tf.function
    def priced(store):
        traces.append(store.name)
        return store.prices["x"] * store.sizes[0]

    out = [doubled(Masked([1, 2], [True, False])).values,
           doubled(Masked([3, 4], [True, True])).values,
           priced(Store("a", {"x": [1.0]})), priced(Store("a", {"x": [2.0]})),
           priced(Store("b", {"x": [2.0]}, (5,)))]  # fmt: skip
    return [out, traces]


@program
def extension_types_in_control_flow():
    start = Masked([1, 2], [True, False])
    _, end = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, Masked(x.values * 2, x.mask)), [0, start]
    )

    @tf.function
    def chosen(which):
        return tf.cond(which, lambda: start, lambda: Masked(start.values + 1, start.mask))

    flat = tf.nest.flatten(start, expand_composites=True)
    again = tf.nest.pack_sequence_as(start, flat, expand_composites=True)
    return [end.values, chosen(tf.constant(False)).values, len(flat), again.mask]


@program
def specs_of_extension_types():
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
    other = Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool))
    one = Masked([1.0, 2.0, 3.0], [True, False, True])
    return [spec.values.shape.as_list(), spec.is_compatible_with(one), spec == other,
            other == tf.type_spec_from_value(one), spec.value_type is Masked,
            spec.most_specific_compatible_type(other) == spec, repr(other),
            hash(spec) == hash(spec), error_of(setattr, spec, "values", 3)]  # fmt: skip


@program
def classes_that_cannot_be_extension_types():
    def made(annotation, name="x"):
        inside = {"__annotations__": {name: annotation}, "__module__": __name__}
        return error_of(type(ExtensionType), "Bad", (ExtensionType,), inside)

    lists = typing.List[int]  # noqa: UP006 - as programs write it
    return [made(list), made(dict), made(int, "_to_components"), made(lists)]


@program
def functions_that_types_answer_for():
    class Wrapped(ExtensionType):
        values: tf.Tensor

    @tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Wrapped]})  # noqa: UP006
    def joined(values, axis, name="concat"):
        return Wrapped(tf.concat([v.values for v in values], axis))

    @tf.experimental.dispatch_for_unary_elementwise_apis(Wrapped)
    def unary(api, x):
        return Wrapped(api(x.values))

    @tf.experimental.dispatch_for_binary_elementwise_apis(Wrapped, typing.Union[Wrapped, tf.Tensor])  # noqa: UP007
    def binary(api, x, y):
        return Wrapped(api(x.values, getattr(y, "values", y)))

    one = Wrapped([1.0, -4.0])
    out = [tf.concat([one, one], 0).values, tf.abs(one).values, tf.cast(one, tf.int32).values,
           tf.add(one, one).values, tf.multiply(one, tf.constant(2.0)).values,
           error_of(tf.reduce_sum, one)]  # fmt: skip
    for handler in (joined, unary, binary):
        tf.experimental.unregister_dispatch_for(handler)
    return [*out, error_of(tf.abs, one), error_of(tf.experimental.unregister_dispatch_for, np.sum)]
