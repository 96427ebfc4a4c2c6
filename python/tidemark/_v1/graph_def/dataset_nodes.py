"""Datasets and iterators of graphs as TensorFlow's operations, written and read.

What a dataset is made of is known by its steps; a step that runs Python code, keeps a state or
reads a variable has no operation, and such a dataset is not written.
"""

from __future__ import annotations

from tidemark import dtypes, nest
from tidemark._tensor.specs import TensorSpec
from tidemark._tensorflow.raw import datasets
from tidemark._tensorflow.raw.handles import held, resource, variant
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def import op_defs
from tidemark._v1.graph_def.functions import Body, resource_uses
from tidemark._v1.iterators import Iterator
from tidemark.data._elements import flat_specs
from tidemark.data._staged_handles import StagedHandle, known
from tidemark.tensor_shape import TensorShape, sizes_of

# --- writing -------------------------------------------------------------------------------------

# Steps that take numbers: what TensorFlow calls them, and the dtypes of those numbers.
_STEPS = {
    "batch": ("BatchDatasetV2", (dtypes.int64, dtypes.bool)),
    "cache": ("CacheDataset", ()),
    "cache_in_file": ("CacheDataset", (dtypes.string,)),
    "ignore_errors": ("IgnoreErrorsDataset", ()),
    "prefetch": ("PrefetchDataset", (dtypes.int64,)),
    "repeat": ("RepeatDataset", (dtypes.int64,)),
    "shard": ("ShardDataset", (dtypes.int64, dtypes.int64)),
    "skip": ("SkipDataset", (dtypes.int64,)),
    "take": ("TakeDataset", (dtypes.int64,)),
    "unbatch": ("UnbatchDataset", ()),
    "unique": ("UniqueDataset", ()),
    "window": ("WindowDataset", (dtypes.int64, dtypes.int64, dtypes.int64, dtypes.bool)),
}
_OTHERS = {
    "concatenate": "ConcatenateDataset",
    "filter": "FilterDataset",
    "map": "MapDataset",
    "padded_batch": "PaddedBatchDatasetV2",
    "range": "RangeDataset",
    "shuffle": "ShuffleDataset",
    "slices": "TensorSliceDataset",
    "tensors": "TensorDataset",
    "zip": "ZipDataset",
}
_PASSED_ON = ("in_any_order", "options")  # the same elements


def is_written(dataset):
    """Whether the dataset is made of steps that TensorFlow has operations for."""
    step = dataset._made_by
    if step is None or dataset._needs is not None or isinstance(dataset._handle, StagedHandle):
        return False
    name, arguments = step
    if name not in _STEPS and name not in _OTHERS and name not in _PASSED_ON:
        return False
    if name in ("map", "filter") and resource_uses([arguments[0].handle]):
        return False
    return all(is_written(parent) for parent in dataset._inputs())


def _elements(specs):
    return {"output_types": [one.dtype for one in specs],
            "output_shapes": [sizes_of(one.shape) for one in specs]}  # fmt: skip


def _specs(dataset):
    """The components of the elements as TensorFlow counts them: an inner dataset is one."""
    return [
        TensorSpec([], dtypes.variant) if hasattr(leaf, "element_spec") else part
        for leaf in nest.flatten(dataset.element_spec)
        for part in flat_specs(leaf)
    ]


class _Nodes:
    """Writes the nodes of one dataset, each named within a scope; ``number``: of the step that
    goes over it, so that no other graph has functions of these names."""

    def __init__(self, writer, scope, number):
        self._writer, self._scope, self._number = writer, scope, number

    def write(self, dataset):
        """The name of the dataset's last node."""
        inputs = [self.write(parent) for parent in dataset._inputs()]
        name, arguments = dataset._made_by
        if name in _PASSED_ON:
            return inputs[0]
        if name in _STEPS:
            op, wanted = _STEPS[name]
            numbers = [self._value(v, d) for v, d in zip(arguments, wanted, strict=False)]
            if name == "cache":
                numbers = [self._value("", dtypes.string)]
            types = [dtypes.variant, *wanted]
            return self._node(op, [*inputs, *numbers], _elements(_specs(dataset)), types)
        return getattr(self, f"_{name}")(dataset, inputs, *arguments)

    def _node(self, op, inputs, attrs, types=()):
        return self._writer.add(self._fresh(op), op, inputs, attrs, types)

    def _fresh(self, name):
        return self._writer.fresh(f"{self._scope}/{name}" if self._scope else name)

    def _value(self, value, dtype):
        value = known(value)
        if isinstance(value, Tensor):
            return self._writer.reference(value, self._fresh("value"))
        return self._writer.constant(self._fresh("value"), value, dtype, is_node=True)

    def _tensors(self, dataset, inputs, *leaves):
        return self._source("TensorDataset", dataset, leaves)

    def _slices(self, dataset, inputs, *leaves):
        return self._source("TensorSliceDataset", dataset, leaves)

    def _source(self, op, dataset, leaves):
        types = [one.dtype for one in leaves]
        shapes = [sizes_of(one.shape) for one in _specs(dataset)]
        values = [self._value(one, one.dtype) for one in leaves]
        attrs = {"Toutput_types": types, "output_shapes": shapes}
        return self._node(op, [values], attrs, [types])

    def _range(self, dataset, inputs, *numbers):
        values = [self._value(one, dtypes.int64) for one in numbers]
        return self._node("RangeDataset", values, _elements(_specs(dataset)))

    def _zip(self, dataset, inputs):
        attrs = {**_elements(_specs(dataset)), "N": len(inputs)}
        return self._node("ZipDataset", [inputs], attrs, [[dtypes.variant] * len(inputs)])

    def _concatenate(self, dataset, inputs):
        return self._node("ConcatenateDataset", inputs, _elements(_specs(dataset)))

    def _shuffle(self, dataset, inputs, buffer, seeds, again):
        numbers = [self._value(one, dtypes.int64) for one in (buffer, *seeds)]
        attrs = {**_elements(_specs(dataset)), "reshuffle_each_iteration": again}
        return self._node("ShuffleDataset", [*inputs, *numbers], attrs)

    def _padded_batch(self, dataset, inputs, size, drop, sizes, filled):
        specs = _specs(dataset)
        shapes = [self._value(one, dtypes.int64) for one in sizes]
        values = [self._value(one, one.dtype) for one in filled]
        types = [one.dtype for one in specs]
        given = [*inputs, self._value(size, dtypes.int64), shapes, values,
                 self._value(drop, dtypes.bool)]  # fmt: skip
        attrs = {"Toutput_types": types, "N": len(specs),
                 "output_shapes": _elements(specs)["output_shapes"]}  # fmt: skip
        return self._node("PaddedBatchDatasetV2", given, attrs)

    def _map(self, dataset, inputs, graph, captures, parallel, order):
        attrs = {**_elements(_specs(dataset)), "preserve_cardinality": True}
        if parallel == 1:
            return self._of_function("MapDataset", "f", inputs, graph, captures, [], attrs)
        attrs["deterministic"] = {None: "default", True: "true", False: "false"}[order]
        count = [self._value(parallel, dtypes.int64)]
        return self._of_function("ParallelMapDatasetV2", "f", inputs, graph, captures, count, attrs)

    def _filter(self, dataset, inputs, graph, captures, stops):
        op = "TakeWhileDataset" if stops else "FilterDataset"
        attrs = _elements(_specs(dataset))
        return self._of_function(op, "predicate", inputs, graph, captures, [], attrs)

    def _of_function(self, op, attr, inputs, graph, captures, numbers, attrs):
        label, given = self._fresh(op), graph.handle
        body = Body(self._writer, f"{label}_{self._number}".replace("/", "_"),
                    [one.dtype for one in given.inputs], [])  # fmt: skip
        outputs = body.write(given, range(len(given.inputs)))
        body.finish(body.writer.write_results(outputs), [one.dtype for one in outputs])
        types = [one.dtype for one in captures]
        others = [self._value(one, one.dtype) for one in captures]
        known = {**attrs, attr: body.name, "Targuments": types}
        return self._writer.add(label, op, [*inputs, others, *numbers], known)


def _iterator_node(writer, iterator, number):
    """The node that stands for an iterator."""

    def declare():
        attrs = {**_elements(flat_specs(iterator.element_spec)), "container": ""}
        name = writer.fresh(iterator.name)
        if not iterator.starts_by_itself:
            return writer.add(name, "IteratorV2", (), {**attrs, "shared_name": ""})
        body = Body(writer, f"{name}_dataset_{number}".replace("/", "_"), [], [])
        made = _Nodes(body.writer, "", number).write(iterator.dataset)
        body.finish([made], [dtypes.variant])
        return writer.add(name, "OneShotIterator", (), {**attrs, "dataset_factory": body.name})

    return writer.declared(("iterator", id(iterator)), declare)


def write_next(iterator, writer, node, label):
    """The step that takes an element; False where the iterator's dataset cannot be written."""
    if not all(is_written(one) for one in iterator.datasets()):
        return False
    source = _iterator_node(writer, iterator, node.sequence)
    writer.add(label, "IteratorGetNext", [source], _elements(flat_specs(iterator.element_spec)))
    return writer.outputs(node, label)


def write_start(iterator, dataset, writer, node, label):
    """The step that starts an iterator over the dataset."""
    if not all(is_written(one) for one in iterator.datasets()):
        return False
    made = _Nodes(writer, label, node.sequence).write(dataset)
    writer.add(label, "MakeIterator", [made, _iterator_node(writer, iterator, node.sequence)])
    return True


# --- reading -------------------------------------------------------------------------------------

READERS = {}  # apart from those of single operations, which are also ``tf.raw_ops``


def _reads(*ops):
    def register(function):
        READERS.update(dict.fromkeys(ops, function))
        return function

    return register


def _function(call, attr):
    name = getattr(attr, "name", attr)
    return lambda *arguments: call.call_function(name, list(arguments))


def _given(call):
    """What a node is given, by the names of TensorFlow's operation."""
    out, at = {}, 0
    for argument in call.definition.inputs:
        count = call.attr(argument.number) if argument.number else 1
        is_list = bool(argument.number) or argument.is_list
        if argument.is_list and not argument.number:
            count = len(call.attr(argument.kind))
        values = known(list(call.inputs[at : at + count]))
        out[argument.name] = values if is_list else values[0]
        at += count
    for name, attr in call.definition.attrs.items():
        value = call.attr(name)
        out[name] = _function(call, value) if attr.kind == "func" else value
    return out


def _dataset(call):
    made = datasets.WRITTEN[call.node.op](**_given(call))
    return made if isinstance(made, list) else [made]


def _is_dataset_op(name):
    definition = op_defs.find(name)
    outputs = [] if definition is None else [one.kind for one in definition.outputs]
    return name.endswith(("Dataset", "DatasetV2", "DatasetV3", "DatasetV4")) and (
        outputs == ["variant"]
    )


_reads(*filter(_is_dataset_op, datasets.WRITTEN))(_dataset)


@_reads("ShuffleDataset")
def _shuffled(call):
    given = _given(call)
    dataset, seeds = datasets.dataset_of(given["input_dataset"]), (given["seed"], given["seed2"])
    again, size = given["reshuffle_each_iteration"], int(given["buffer_size"])
    return [variant(dataset.shuffle_by(size, tuple(map(int, seeds)), again))]


def _spec(call):
    """The elements of an iterator: tuples, as all that TensorFlow's operations pass."""
    pairs = zip(call.attr("output_types"), call.attr("output_shapes"), strict=True)
    return tuple(TensorSpec(TensorShape(None if s == "?" else s), t) for t, s in pairs)


@_reads("Iterator", "IteratorV2")
def _iterator(call):
    return [resource(Iterator(_spec(call), name=call.node.name))]


@_reads("OneShotIterator")
def _one_shot(call):
    (made,) = _function(call, call.attr("dataset_factory"))()
    dataset = datasets.dataset_of(made)
    return [resource(Iterator(_spec(call), dataset, True, call.node.name))]


@_reads("MakeIterator")
def _make(call):
    dataset, iterator = call.inputs
    return [held(iterator, Iterator).make_initializer(datasets.dataset_of(dataset))]


@_reads("IteratorGetNext")
def _next(call):
    return list(held(call.inputs[0], Iterator).get_next())


@_reads("IteratorToStringHandle")
def _to_string(call):
    return [held(call.inputs[0], Iterator).string_handle()]


@_reads("SerializeIterator")
def _state(call):
    """What TensorFlow saves; here a Saver asks the iterator."""
    return []
