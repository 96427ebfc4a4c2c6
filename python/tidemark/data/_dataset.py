"""``tf.data.Dataset``: the pipeline is C++'s, the functions are traced."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes, nest
from tidemark._creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark._tracing import Structure, building, lifted
from tidemark._type_specs import CompositeTensor, TensorSpec, TypeSpec, type_spec_from_value
from tidemark.data._elements import NoneTensorSpec, flat_specs, pack
from tidemark.data._generators import fit, values_of
from tidemark.data._iterator import Iterator, NumpyIterator
from tidemark.data._options import Options
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import TensorShape, as_shape, sizes_of

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _tensors(element):
    """Any structure of values as a structure of tensors; a Python list becomes one tensor."""
    if isinstance(element, tuple) and hasattr(element, "_fields"):
        return type(element)(*(_tensors(part) for part in element))
    if isinstance(element, tuple):
        return tuple(_tensors(part) for part in element)
    if isinstance(element, dict):
        return type(element)((key, _tensors(value)) for key, value in element.items())
    if isinstance(element, Tensor) and _tidemark.is_symbolic(element):
        known = _tidemark.static_value(element)
        return element if known is None else known
    if element is None or isinstance(element, (CompositeTensor, Tensor, DatasetV2)):
        return element
    if any(_tidemark.is_symbolic(leaf) for leaf in nest.flatten(element)):
        return convert_to_tensor(element)
    with lifted():  # a constant, though a function may be traced around it
        return convert_to_tensor(element)


def spec_of(value):
    """The spec of one leaf."""
    if isinstance(value, TypeSpec):
        return value
    if value is None:
        return NoneTensorSpec()
    if isinstance(value, DatasetV2):
        return DatasetSpec(value.element_spec)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    return type_spec_from_value(value)


def flat(structure):
    """The tensors of an element."""
    out = []
    for leaf in nest.flatten(structure):
        if isinstance(leaf, CompositeTensor):
            out.extend(nest.flatten(leaf._type_spec._to_components(leaf)))
        elif leaf is not None:
            out.append(leaf)
    return out


class Traced:
    """A function of the user's as a graph over the tensors of an element."""

    def __init__(self, function, spec, what):
        from tidemark.autograph import _impl

        with building(what) as builder:
            inputs = [builder.add_input(s.dtype, sizes_of(s.shape)) for s in flat_specs(spec)]
            element = pack(spec, inputs)
            converted = _impl.converted(function)
            result = converted(*element) if _spreads(element) else converted(element)
            if isinstance(result, list):
                result = tuple(result) if not _is_numeric_list(result) else result
            result = _tensors(result)
            self.datasets = any(isinstance(x, DatasetV2) for x in nest.flatten(result))
            if self.datasets:
                return
            self.spec = nest.map_structure(spec_of, result)
            _, outputs = Structure.of(result, lambda leaf: leaf)
            outputs = [builder.own(t) for t in outputs]
        self.graph, self.captures = builder.finish(outputs), builder.captures


def _is_numeric_list(value):
    return not any(isinstance(leaf, Tensor) for leaf in nest.flatten(value))


def _spreads(element):
    return type(element) is tuple or (
        isinstance(element, tuple) and not hasattr(element, "_fields")
    )


def _call(function, element):
    return function(*element) if _spreads(element) else function(element)


def _plus_one(dim_or_none, shape):
    return TensorShape(None) if shape.rank is None else TensorShape([dim_or_none, *shape.as_list()])


def _batched(spec, size):
    def one(leaf):
        if isinstance(leaf, TensorSpec):
            return TensorSpec(_plus_one(size, leaf.shape), leaf.dtype)
        batch = getattr(leaf, "_batch", None)
        if batch is None:
            raise TypeError(f"elements of {type(leaf).__name__} cannot be batched")
        return batch(size)

    return nest.map_structure(one, spec)


def _number(value, what="count"):
    if isinstance(value, Tensor):
        known = _tidemark.static_value(value)
        # While only the type of a dataset is asked for, any number will do.
        value = 1 if known is None else int(known.numpy())
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an integer, got {value!r}")
    return int(value)


class DatasetSpec(TypeSpec):
    """The type of a dataset of elements of a spec."""

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)
    value_type = property(lambda self: DatasetV2)

    def _serialize(self):
        return (self._element_spec, ())


class DatasetV2:
    """Elements made one after the other, each a structure of tensors."""

    def __init__(self, handle, element_spec, options=None, inputs=()):
        self._handle, self._spec = handle, element_spec
        self._options = options or Options()
        self._parents = inputs

    element_spec = property(lambda self: self._spec)
    _rows = None  # of each element, where this step makes batches; -1: where it is a new element

    def _next(self, handle, spec=None, *more):
        return DatasetV2(handle, self._spec if spec is None else spec, self._options, (self, *more))

    # --- sources -----------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: the tensors themselves."""
        element = _tensors(tensors)
        handle = _tidemark.dataset_single(flat(element))
        return DatasetV2(handle, nest.map_structure(spec_of, element))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of the tensors; arrays are not copied."""
        element = _tensors(tensors)
        leaves = nest.flatten(element)
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` must not be empty")
        if any(isinstance(leaf, CompositeTensor) for leaf in leaves):
            return _composite_slices(element)
        for leaf in leaves:
            if leaf.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        counts = {leaf.shape[0] for leaf in leaves}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible")
        spec = nest.map_structure(lambda t: TensorSpec(t.shape[1:], t.dtype), element)
        return DatasetV2(_tidemark.dataset_slices(leaves), spec)

    @staticmethod
    def range(*args, **kwargs):
        """Numbers: stop; start, stop; start, stop, step."""
        dtype = as_dtype(kwargs.pop("output_type", dtypes.int64))
        kwargs.pop("name", None)
        if kwargs:
            raise TypeError(f"range() got unexpected arguments {sorted(kwargs)}")
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Invalid `args`. The length of `args` should be 1 to 3, got {len(args)}"
            )
        numbers = [_number(value, "range") for value in args]
        start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) == 3 else 1
        wide = dtype if dtype in (dtypes.int32, dtypes.int64) else dtypes.int64
        made = DatasetV2(_tidemark.dataset_range(start, stop, step, wide), TensorSpec([], wide))
        if wide is dtype:
            return made
        from tidemark._creation import cast

        return made.map(lambda x: cast(x, dtype))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None,
                       output_signature=None, name=None):  # fmt: skip
        """The elements that a Python generator yields."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError("Either `output_signature` or `output_types` must be specified")
            shapes = output_shapes
            if shapes is None:
                shapes = nest.map_structure(lambda _: None, output_types)
            flat_types = nest.flatten(output_types)
            flat_shapes = nest.flatten_up_to(output_types, shapes)
            signature = nest.pack_sequence_as(
                output_types,
                [TensorSpec(as_shape(s), as_dtype(t))
                 for s, t in zip(flat_shapes, flat_types, strict=True)],
            )  # fmt: skip
        else:
            if output_types is not None or output_shapes is not None:
                raise TypeError("give `output_signature`, or `output_types` and `output_shapes`")
            signature = output_signature
        given = [convert_to_tensor(a).numpy() for a in args or ()]
        specs = nest.flatten(signature)

        def elements():
            for value in values_of(generator, given):
                yield flat(fit(value, signature, specs))

        return DatasetV2(_tidemark.dataset_from_python(elements, UNKNOWN_CARDINALITY), signature)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Tuples of the elements of several datasets."""
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if isinstance(structure, DatasetV2):
            structure = (structure,)
        leaves = nest.flatten(structure)
        for leaf in leaves:
            if not isinstance(leaf, DatasetV2):
                raise TypeError(f"Invalid input to `zip`: {leaf!r} is not a `tf.data.Dataset`")
        handle = _tidemark.dataset_zip([leaf._handle for leaf in leaves])
        spec = nest.pack_sequence_as(structure, [leaf.element_spec for leaf in leaves])
        return DatasetV2(handle, spec, leaves[0]._options, tuple(leaves))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that match."""
        from tidemark.io import gfile

        patterns = nest.flatten(file_pattern)
        patterns = [
            p if isinstance(p, str) else convert_to_tensor(p).numpy().decode() for p in patterns
        ]
        found = sorted({name for pattern in patterns for name in gfile.glob(pattern)})
        if not found:
            from tidemark.errors import InvalidArgumentError

            raise InvalidArgumentError(None, None, f"No files matched pattern: {patterns}")
        made = DatasetV2.from_tensor_slices(found)
        return made if shuffle is False else made.shuffle(len(found), seed)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random numbers without end."""

        def elements():
            draws = np.random.default_rng(seed)
            while True:
                yield [convert_to_tensor(int(draws.integers(0, 2**32)), dtype=dtypes.int64)]

        handle = _tidemark.dataset_from_python(elements, INFINITE_CARDINALITY)
        return DatasetV2(handle, TensorSpec([], dtypes.int64))

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """Numbers without end."""
        start, step = _number(start), _number(step)
        return DatasetV2.range(0, 2**62).map(
            lambda i: convert_to_tensor(start, dtype=i.dtype) + i * step
        )

    # --- elements from elements --------------------------------------------------------------

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=None, name=None):  # fmt: skip
        """The function of every element; traced once."""
        traced = Traced(map_func, self._spec, "map")
        if traced.datasets:
            raise TypeError("map_func returns a dataset: use flat_map or interleave")
        parallel = _parallel(num_parallel_calls)
        made = self._next(self._handle.map(traced.graph, traced.captures, parallel), traced.spec)
        made._rows = -1
        return made

    def filter(self, predicate, name=None):
        """The elements for which the predicate is true."""
        return self._filtered(predicate, False)

    def take_while(self, predicate, name=None):
        """The elements before the first for which the predicate is false."""
        return self._filtered(predicate, True)

    def _filtered(self, predicate, stops):
        traced = Traced(predicate, self._spec, "filter")
        spec = traced.spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.bool:
            raise ValueError(
                f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
                f"return type is {spec!r}."
            )
        return self._next(self._handle.filter(traced.graph, traced.captures, stops))

    def flat_map(self, map_func, name=None):
        """All elements of the datasets of all elements."""
        return self.interleave(map_func, cycle_length=1, block_length=1)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None,
                   deterministic=None, name=None):  # fmt: skip
        """The elements of several datasets at a time, in turn."""
        spec = self._spec
        made = _result_spec(map_func, spec)

        def dataset_of(tensors):
            result = _call(map_func, pack(spec, tensors))
            if not isinstance(result, DatasetV2):
                raise TypeError(f"map_func must return a Dataset, got {type(result).__name__}")
            return result._handle

        cycle = 4 if cycle_length in (None, AUTOTUNE) else _number(cycle_length)
        block = 1 if block_length is None else _number(block_length)
        found = self._next(self._handle.interleave(dataset_of, cycle, block), made)
        found._rows = -1
        return found

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None,
              name=None):  # fmt: skip
        """Elements stacked, ``batch_size`` at a time."""
        size = _number(batch_size, "batch_size")
        spec = _batched(self._spec, size if drop_remainder else None)
        if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(self._spec)):
            made = self._next(_batch_composites(self, size, bool(drop_remainder)), spec)
        else:
            made = self._next(self._handle.batch(size, bool(drop_remainder)), spec)
        made._rows = size
        return made

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None,
                     drop_remainder=False, name=None):  # fmt: skip
        """Elements padded to one shape and stacked."""
        specs = nest.flatten(self._spec)
        shapes = [s.shape for s in specs]
        if padded_shapes is not None:
            shapes = [as_shape(s) for s in nest.flatten_up_to(self._spec, padded_shapes)]
        sizes = []
        for shape in shapes:
            if shape.rank is None:
                raise ValueError("padded_shapes must be given: the rank of an element is unknown")
            sizes.append(tuple(-1 if d is None else d for d in shape.as_list()))
        values = [None] * len(specs)
        if padding_values is not None:
            given = nest.flatten(padding_values)
            values = given * len(specs) if len(given) == 1 else given
        filled = [
            convert_to_tensor("" if s.dtype == dtypes.string else 0, dtype=s.dtype)
            if v is None else convert_to_tensor(v, dtype=s.dtype)
            for v, s in zip(values, specs, strict=True)
        ]  # fmt: skip
        size = _number(batch_size, "batch_size")
        outer = size if drop_remainder else None
        spec = nest.pack_sequence_as(
            self._spec,
            [TensorSpec(_plus_one(outer, shape), s.dtype)
             for shape, s in zip(shapes, specs, strict=True)],
        )  # fmt: skip
        made = self._next(
            self._handle.padded_batch(size, bool(drop_remainder), sizes, filled), spec
        )
        made._rows = size
        return made

    def unbatch(self, name=None):
        """The rows of the elements."""
        if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(self._spec)):
            return self.flat_map(lambda *parts: DatasetV2.from_tensor_slices(_whole(parts)))
        spec = nest.map_structure(lambda s: TensorSpec(s.shape[1:], s.dtype), self._spec)
        return self._next(self._handle.unbatch(), spec)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of ``size`` elements in a row each."""
        size, stride = _number(size, "size"), _number(stride, "stride")
        shift = size if shift is None else _number(shift, "shift")
        return _windows(self, size, shift, stride, bool(drop_remainder))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Elements drawn from a buffer of as many."""
        buffer = _number(buffer_size, "buffer_size")
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self._next(self._handle.shuffle(buffer, _shuffle_seed(seed), again))

    def repeat(self, count=None, name=None):
        """The elements again, ``count`` times or without end."""
        return self._next(self._handle.repeat(-1 if count is None else _number(count)))

    def take(self, count, name=None):
        """The first elements."""
        return self._next(self._handle.take(_number(count)))

    def skip(self, count, name=None):
        """All but the first elements."""
        return self._next(self._handle.skip(_number(count)))

    def shard(self, num_shards, index, name=None):
        """Every ``num_shards``-th element."""
        return self._next(self._handle.shard(_number(num_shards), _number(index)))

    def concatenate(self, dataset, name=None):
        """The elements of this one, then of the other."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"a Dataset is wanted, got {type(dataset).__name__}")
        spec = nest.map_structure(
            lambda a, b: a.most_specific_common_supertype([b]), self._spec, dataset._spec
        )
        if any(leaf is None for leaf in nest.flatten(spec)):
            raise TypeError(f"Incompatible dataset elements:\n  {self._spec} vs.   {dataset._spec}")
        return self._next(self._handle.concatenate(dataset._handle), spec, dataset)

    def cache(self, filename="", name=None):
        """Keeps the elements of the first whole pass in memory."""
        return self._next(self._handle.cache())

    def prefetch(self, buffer_size, name=None):
        """Makes elements ahead, on a thread of its own."""
        return self._next(self._handle.prefetch(_number(buffer_size, "buffer_size")))

    def enumerate(self, start=0, name=None):
        """Pairs of a number and an element."""
        return DatasetV2.zip(DatasetV2.range(start, 2**62), self)

    def scan(self, initial_state, scan_func, name=None):
        """Elements made from a state that goes along."""
        return _scanned(self, initial_state, scan_func)

    def apply(self, transformation_func, name=None):
        """The function of the dataset."""
        made = transformation_func(self)
        if not isinstance(made, DatasetV2):
            raise TypeError("`transformation_func` must return a `tf.data.Dataset` object")
        return made

    def reduce(self, initial_state, reduce_func, name=None):
        """The state after all elements: ``state = reduce_func(state, element)``."""
        if _tidemark.is_tracing():
            from tidemark.data._staged_reduce import staged_reduce

            return staged_reduce(self, initial_state, reduce_func)
        state = nest.map_structure(convert_to_tensor, initial_state)
        for element in self:
            state = nest.map_structure(convert_to_tensor, reduce_func(state, element))
        return state

    def unique(self, name=None):
        """Each different element once."""
        spec = self._spec

        def elements():
            seen = set()
            for element in Iterator(self):
                key = tuple(t.numpy().tobytes() if t.dtype != dtypes.string else str(t.numpy())
                            for t in flat(element))  # fmt: skip
                if key not in seen:
                    seen.add(key)
                    yield flat(element)

        return self._next(_tidemark.dataset_from_python(elements, UNKNOWN_CARDINALITY), spec)

    # --- looking at it -----------------------------------------------------------------------

    def __iter__(self):
        return Iterator.of_each_run(self) if _tidemark.is_tracing() else Iterator(self)

    def as_numpy_iterator(self):
        """The elements as NumPy arrays."""
        return NumpyIterator(self)

    def get_single_element(self, name=None):
        """The only element."""
        elements = list(self.take(2))
        if len(elements) != 1:
            from tidemark.errors import InvalidArgumentError

            raise InvalidArgumentError(None, None, "Dataset must have exactly one element.")
        return elements[0]

    def cardinality(self, name=None):
        """The number of elements, -1: without end, -2: not known."""
        return convert_to_tensor(self._handle.cardinality(), dtype=dtypes.int64)

    def __len__(self):
        count = self._handle.cardinality()
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self):
        return True

    def with_options(self, options, name=None):
        """The dataset with these options."""
        merged = self._options.merge(options)
        return DatasetV2(self._handle, self._spec, merged, (self,))

    def options(self):
        """The options."""
        return self._options

    def _inputs(self):
        return list(self._parents)

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self._spec!r}>"


def compute_batch_size(dataset):
    """The rows of the elements, as the spec or the step that made batches tells; -1: unknown."""
    rows = {leaf.shape[0] for leaf in nest.flatten(dataset.element_spec) if leaf.shape.rank}
    step = dataset
    while len(rows) == 1 and None in rows:
        if step._rows is not None:
            rows = {step._rows}
        elif len(step._parents) == 1 and step._parents[0].element_spec == dataset.element_spec:
            step = step._parents[0]  # the elements themselves are its parent's
        else:
            break
    known = rows.pop() if len(rows) == 1 else None
    return convert_to_tensor(-1 if known is None else known, dtype=dtypes.int64)


def _shuffle_seed(seed):
    if seed is not None:
        return _number(seed, "seed") & (2**64 - 1)
    from tidemark import random

    with lifted():
        return int(random.uniform([], 0, 2**62, dtypes.int64).numpy())


def _parallel(number):
    if number is None:
        return 1
    number = _number(number, "num_parallel_calls")
    return _tidemark.num_threads() if number == AUTOTUNE else number


def _result_spec(function, spec):
    """The element spec of the dataset a function returns, found by calling it in a graph."""
    with building("flat_map") as builder:
        inputs = [builder.add_input(s.dtype, sizes_of(s.shape)) for s in flat_specs(spec)]
        made = _call(function, pack(spec, inputs))
    if isinstance(made, DatasetV2):
        return made.element_spec
    raise TypeError(
        "map_func must return a tf.data.Dataset whose elements are known from the element's type; "
        f"it returned {type(made).__name__}"
    )


def _whole(parts):
    """An element again, from how it was spread over arguments."""
    return parts[0] if len(parts) == 1 else parts


def _row_spec(leaf):
    spec = spec_of(leaf)
    if isinstance(spec, TensorSpec):
        return TensorSpec(spec.shape[1:], spec.dtype)
    return spec._unbatch()


def _composite_slices(element):
    """Rows of ragged and sparse tensors, and of dense ones beside them."""
    spec = nest.map_structure(_row_spec, element)
    if _tidemark.is_tracing():  # only the type of the elements is asked for
        return DatasetV2(None, spec)
    rows = nest.flatten(element)
    counts = {int(row.dense_shape[0]) if _is_sparse(row) else row.shape[0] for row in rows}
    if len(counts) > 1:
        raise ValueError(f"Dimensions {sorted(counts)} are not compatible")
    count = counts.pop()

    def elements():
        for i in range(count):
            yield flat(nest.pack_sequence_as(element, [_row(leaf, i) for leaf in rows]))

    return DatasetV2(_tidemark.dataset_from_python(elements, count), spec)


def _is_sparse(value):
    return hasattr(value, "dense_shape")


def _row(value, i):
    if not _is_sparse(value):
        return value[i]
    import tidemark as tf

    sizes = tf.concat([[1], value.dense_shape[1:]], 0)
    start = tf.concat([[i], tf.zeros_like(value.dense_shape[1:])], 0)
    return tf.sparse.reshape(tf.sparse.slice(value, start, sizes), sizes[1:])


def _batch_composites(dataset, size, drop):
    import tidemark as tf

    spec = dataset.element_spec
    specs = nest.flatten(spec)

    def elements():
        held = []
        for element in Iterator(dataset):
            held.append(nest.flatten(element))
            if len(held) == size:
                yield flat(joined(held))
                held = []
        if held and not drop:
            yield flat(joined(held))

    def joined(held):
        columns = []
        for kind, column in zip(specs, zip(*held, strict=True), strict=True):
            if isinstance(kind, tf.RaggedTensorSpec):
                columns.append(tf.ragged.stack(list(column)))
            elif isinstance(kind, tf.SparseTensorSpec):
                wide = [tf.sparse.expand_dims(x, 0) for x in column]
                columns.append(tf.sparse.concat(0, wide, expand_nonconcat_dims=True))
            else:
                columns.append(tf.stack(list(column)))
        return nest.pack_sequence_as(spec, columns)

    count = dataset._handle.cardinality()
    if count >= 0:
        count = count // size if drop else -(-count // size)
    return _tidemark.dataset_from_python(elements, count)


def _windows(dataset, size, shift, stride, drop):
    spec = nest.map_structure(lambda s: DatasetSpec(s), dataset.element_spec)
    return WindowDataset(dataset, size, shift, stride, drop, spec)


class WindowDataset(DatasetV2):
    """Windows of a dataset: elements are datasets themselves, so they exist in Python alone."""

    def __init__(self, of, size, shift, stride, drop, spec):
        super().__init__(None, spec, of._options, (of,))
        self._of, self._numbers = of, (size, shift, stride, drop)

    def _windows(self):
        size, shift, stride, drop = self._numbers
        held, skip = [], 0
        source = Iterator(self._of)
        reach = (size - 1) * stride + 1
        done = False
        while True:
            while not done and len(held) < reach:
                try:
                    element = next(source)
                except StopIteration:
                    done = True
                    break
                if skip:
                    skip -= 1
                else:
                    held.append(element)
            window = held[:reach:stride]
            if not window or (drop and len(window) < size):
                return
            yield (
                nest.map_structure(lambda *rows: _of_rows(rows), *window, check_types=False)
                if len(window) > 0
                else None
            )
            skip += max(0, shift - len(held))
            held = held[shift:]

    def __iter__(self):
        return self._windows()

    def flat_map(self, map_func, name=None):
        """All elements of what the function makes of the windows."""
        windows = self._windows
        sample = next(iter(self), None)
        if sample is None:
            return DatasetV2.range(0)
        spec = _call(map_func, sample).element_spec

        def elements():
            for window in windows():
                for element in Iterator(_call(map_func, window)):
                    yield flat(element)

        return DatasetV2(_tidemark.dataset_from_python(elements, UNKNOWN_CARDINALITY), spec)

    def map(self, map_func, **_):
        made = [_call(map_func, window) for window in self._windows()]
        if made and not isinstance(nest.flatten(made[0])[0], DatasetV2):
            return DatasetV2.from_tensor_slices(
                nest.map_structure(lambda *rows: _stack(rows), *made)
            )
        return made


def _stack(rows):
    return _tidemark.call("stack", (list(rows),), {"axis": 0})


def _of_rows(rows):
    return DatasetV2.from_tensor_slices(_stack(rows))


def _scanned(dataset, initial_state, function):
    start = nest.map_structure(convert_to_tensor, initial_state)

    def elements():
        state = start
        for element in Iterator(dataset):
            state, out = function(state, element)
            yield flat(_tensors(out))

    probe = next(iter(Iterator(dataset)), None)
    if probe is None:
        raise ValueError("scan needs at least one element to tell what it gives")
    spec = nest.map_structure(spec_of, _tensors(function(start, probe)[1]))
    handle = _tidemark.dataset_from_python(elements, dataset._handle.cardinality())
    return DatasetV2(handle, spec, dataset._options, (dataset,))


Dataset = DatasetV2
