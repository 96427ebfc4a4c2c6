"""``tf.data.Dataset``: the pipeline is C++'s, the functions are traced."""

from __future__ import annotations

import copy

import numpy as np

from tidemark import _tidemark, dtypes, nest
from tidemark._graph.staged import python_call
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec
from tidemark._tidemark import Tensor
from tidemark.data import _composites, _sharding
from tidemark.data._elements import flat_specs, pack
from tidemark.data._generators import fit, values_of
from tidemark.data._iterator import Iterator, NumpyIterator, types_of
from tidemark.data._options import Options
from tidemark.data._staged_handles import StagedHandle, call, handle_of, made
from tidemark.data._traced import (
    Traced,
    flat,
    is_dataset,
    known_number,
    next_state,
    number_of,
    seeds_of,
    spec_of,
    tensors_of,
    with_rows,
)
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import as_shape

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_number = number_of


def _batched(spec, size):
    def one(leaf):
        if isinstance(leaf, TensorSpec):
            return TensorSpec(with_rows(size, leaf.shape), leaf.dtype)
        batch = getattr(leaf, "_batch", None)
        if batch is None:
            raise TypeError(f"elements of {type(leaf).__name__} cannot be batched")
        return batch(size)

    return nest.map_structure(one, spec)


class DatasetSpec(TypeSpec):
    """The type of a dataset of elements of a spec."""

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)
    value_type = property(lambda self: DatasetV2)
    _component_specs = property(lambda self: TensorSpec([], dtypes.int64))

    def _serialize(self):
        return (self._element_spec, ())

    def _to_components(self, value):
        return value._handle.as_tensor()

    def _from_components(self, components):
        return DatasetV2(handle_of(components), self._element_spec)


class DatasetV2:
    """Elements made one after the other, each a structure of tensors."""

    def __init__(self, handle, element_spec, options=None, inputs=(), tensors=(), made_by=None):
        self._handle, self._spec = handle, element_spec
        self._made_by = made_by  # (step, its arguments), where graphs can tell of it
        self._options = options or Options()
        self._parents = inputs
        self._tensors = tensors  # that it is made of: who looks for their holders finds them here

    element_spec = property(lambda self: self._spec)
    _is_dataset = True

    @staticmethod
    def _of_handle(handle, spec):
        return DatasetV2(handle, spec)

    def packed_as(self, spec):
        """The same tensors as elements of another structure."""
        found = self._next(self._handle, spec)
        found._made_by = ("options", ())
        return found

    _varies = False  # whether this step draws an order anew for each iterator
    _rows = None  # of each element, where this step makes batches; -1: where it is a new element

    def _next(self, handle, spec=None, *more):
        return DatasetV2(handle, self._spec if spec is None else spec, self._options, (self, *more))

    def _step(self, name, *arguments, spec=None):
        """A step in C++ behind this one."""
        found = self._step_by(lambda handle: call(handle, name, *arguments), spec)
        found._made_by = (name, arguments)
        return found

    def _step_by(self, make, spec=None, *more):
        """A step behind this one and others: ``make`` makes it of their handles."""
        found = self._next(make(self._handle, *(one._handle for one in more)), spec, *more)
        found._make = make
        return found

    _make = None  # what this step is made with again, over other ones; None: it is not

    def _over(self, *parents):
        """The same step over others."""
        found = copy.copy(self)
        found._handle, found._parents = self._make(*(one._handle for one in parents)), parents
        return found

    _files = None  # of a reader of files: their names
    _reads_files = False  # by names, which are the elements of the step before
    _is_hint = False  # that the elements are to be shared out here

    def _traced_step(self, name, traced, *arguments, spec=None):
        """A step in C++ behind this one that computes what was traced."""
        made_of = self._step(name, traced.graph, traced.captures, *arguments, spec=spec)
        made_of._needs = traced.state_outside()
        return made_of

    _needs = None  # what a function of this step changes or reads that no saved iterator holds

    def _state_outside(self):
        """The first thing that a saved iterator would not hold; None if it holds all."""
        found = (parent._state_outside() for parent in self._parents)
        return self._needs or next((one for one in found if one), None)

    def _reshuffles(self):
        """Whether its elements may come in another order each time."""
        return self._varies or any(parent._reshuffles() for parent in self._parents)

    # --- sources -----------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: the tensors themselves."""
        element = tensors_of(tensors)
        leaves = flat(element)
        spec = nest.map_structure(spec_of, element)
        step = ("tensors", leaves)
        return DatasetV2(made(_tidemark.dataset_single, leaves), spec, tensors=leaves, made_by=step)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of the tensors; arrays are not copied."""
        if isinstance(tensors, list) and tensors and all(map(is_dataset, tensors)):
            return DatasetV2(*_composites.of_datasets(tensors), inputs=tuple(tensors))
        element = tensors_of(tensors)
        leaves = [leaf for leaf in nest.flatten(element) if leaf is not None]
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` must not be empty")
        if any(isinstance(leaf, CompositeTensor) for leaf in leaves):
            return DatasetV2(*_composites.slices(element))
        for leaf in leaves:
            if leaf.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        counts = {leaf.shape[0] for leaf in leaves if leaf.shape.rank is not None} - {None}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible")
        spec = nest.map_structure(
            lambda t: spec_of(None) if t is None else TensorSpec(t.shape[1:], t.dtype), element
        )
        step = ("slices", leaves)
        return DatasetV2(made(_tidemark.dataset_slices, leaves), spec, tensors=leaves, made_by=step)

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

        def numbers_between(start, stop, step):
            return _tidemark.dataset_range(int(start), int(stop), int(step), wide)

        handle = made(numbers_between, start, stop, step)
        found = DatasetV2(handle, TensorSpec([], wide), made_by=("range", (start, stop, step)))
        if wide is dtype:
            return found

        return found.map(lambda x: cast(x, dtype))

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
        given = [convert_to_tensor(a) for a in args or ()]
        specs = nest.flatten(signature)

        def yielded(given):
            arrays = [a.numpy() for a in given]

            def elements():
                for value in values_of(generator, arrays):
                    yield flat(fit(value, signature, specs))

            return _tidemark.dataset_from_python(elements, UNKNOWN_CARDINALITY)

        return DatasetV2(made(yielded, given), signature)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Tuples of the elements of several datasets."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if isinstance(structure, DatasetV2):
            structure = (structure,)
        leaves = nest.flatten(structure)
        for leaf in leaves:
            if not isinstance(leaf, DatasetV2):
                raise TypeError(f"Invalid input to `zip`: {leaf!r} is not a `tf.data.Dataset`")
        spec = nest.pack_sequence_as(structure, [leaf.element_spec for leaf in leaves])
        found = leaves[0]._step_by(
            lambda *handles: made(_tidemark.dataset_zip, list(handles)), spec, *leaves[1:]
        )
        found._made_by = ("zip", ())
        return found

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that match."""
        from tidemark.io import gfile  # loaded on first use

        patterns = nest.flatten(file_pattern)
        patterns = [
            p if isinstance(p, str) else convert_to_tensor(p).numpy().decode() for p in patterns
        ]
        found = sorted({name for pattern in patterns for name in gfile.glob(pattern)})
        if not found:
            raise InvalidArgumentError(None, None, f"No files matched pattern: {patterns}")
        made = DatasetV2.from_tensor_slices(found)
        return made if shuffle is False else made.shuffle(len(found), seed)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random numbers of 32 bits, without end."""
        again = bool(rerandomize_each_iteration)
        handle = _tidemark.dataset_random(seeds_of(seed), again)
        return DatasetV2(handle, TensorSpec([], dtypes.int64))

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """Numbers without end."""
        dtype = as_dtype(dtype)
        start, step = (convert_to_tensor(x, dtype=dtype) for x in (start, step))

        def following(state, _):
            return state + step, state

        return DatasetV2.range(1).repeat().scan(start, following)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):  # fmt: skip
        """Elements of the datasets, each time of one that is drawn by the weights."""
        from tidemark.data import _choosing  # it imports this module

        return _choosing.sample(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of the datasets, each time of the one that ``choice_dataset`` names."""
        from tidemark.data import _choosing  # it imports this module

        return _choosing.choose(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False,
             wait_timeout=None):  # fmt: skip
        """What ``save`` wrote."""
        from tidemark.data import _saving  # it imports this module

        return _saving.load(path, element_spec, reader_func)

    # --- elements from elements --------------------------------------------------------------

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=None, name=None):  # fmt: skip
        """The function of every element; traced once."""
        traced = Traced(map_func, [self._spec], "map")
        parallel = self._parallel(num_parallel_calls)
        order = None if deterministic is None else bool(deterministic)
        found = self._traced_step("map", traced, parallel, order, spec=traced.spec)
        found._rows = -1
        return found

    def filter(self, predicate, name=None):
        """The elements for which the predicate is true."""
        return self._filtered(predicate, False)

    def take_while(self, predicate, name=None):
        """The elements before the first for which the predicate is false."""
        return self._filtered(predicate, True)

    def _filtered(self, predicate, stops):
        traced = Traced(predicate, [self._spec], "filter")
        spec = traced.spec
        if (
            not isinstance(spec, TensorSpec)
            or spec.dtype != dtypes.bool
            or not spec.shape.is_compatible_with([])
        ):
            raise ValueError(
                f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
                f"return type is {spec!r}."
            )
        return self._traced_step("filter", traced, stops)

    def flat_map(self, map_func, name=None):
        """All elements of the datasets of all elements."""
        return self._interleaved(map_func, 1, 1, False, "flat_map")

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None,
                   deterministic=None, name=None):  # fmt: skip
        """The elements of several datasets at a time, in turn."""
        cycle = AUTOTUNE if cycle_length is None else _number(cycle_length, "cycle_length")
        if not isinstance(cycle, Tensor) and cycle == AUTOTUNE:
            cycle = _tidemark.num_threads()
        block = 1 if block_length is None else _number(block_length, "block_length")
        parallel = num_parallel_calls is not None and _number(num_parallel_calls) != 1
        return self._interleaved(map_func, cycle, block, parallel, "interleave")

    def _interleaved(self, map_func, cycle, block, parallel, what):
        traced = Traced(map_func, [self._spec], what)
        if not traced.gives_dataset:
            raise TypeError(
                "The `map_func` argument must return a `Dataset` object. Got "
                f"{type(traced.result).__name__!r}."
            )
        spec = traced.spec.element_spec
        found = self._traced_step("interleave", traced, cycle, block, parallel, spec=spec)
        found._rows, found._reads_files = -1, _sharding.reads_files(traced.result)
        return found

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None,
              name=None):  # fmt: skip
        """Elements stacked, ``batch_size`` at a time."""
        size = _number(batch_size, "batch_size")
        drop = bool(drop_remainder)
        spec = _batched(self._spec, known_number(size) if drop else None)
        if _composites.are_in(self._spec):
            found = self._next(_composites.batches(self, size, drop), spec)
        else:
            found = self._step("batch", size, drop, spec=spec)
        found._rows = known_number(size)
        return found

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None,
                     drop_remainder=False, name=None):  # fmt: skip
        """Elements padded to one shape and stacked."""
        size = _number(batch_size, "batch_size")
        drop = bool(drop_remainder)
        sizes, filled, spec = _composites.padding(
            self._spec, padded_shapes, padding_values, known_number(size) if drop else None
        )
        found = self._step_by(
            lambda handle: made(_composites.padded_batch, handle, size, drop, sizes, filled), spec
        )
        found._made_by = ("padded_batch", (size, drop, sizes, filled))
        found._rows = known_number(size)
        return found

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64,
                     name=None):  # fmt: skip
        """Elements of different sizes as ragged tensors, ``batch_size`` at a time."""
        return _composites.ragged_batch(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Elements as rows of sparse tensors of one shape, ``batch_size`` at a time."""
        return _composites.sparse_batch(self, batch_size, row_shape)

    def unbatch(self, name=None):
        """The rows of the elements."""
        if _composites.are_in(self._spec):
            return self.flat_map(lambda *parts: DatasetV2.from_tensor_slices(_whole(parts)))
        spec = nest.map_structure(lambda s: TensorSpec(s.shape[1:], s.dtype), self._spec)
        return self._step("unbatch", spec=spec)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size, or of several sizes in turn."""
        sizes = np.asarray(batch_size) if not isinstance(batch_size, Tensor) else np.zeros([])
        if sizes.ndim:
            from tidemark.data import _grouping  # it imports this module

            return _grouping.rebatch(self, [int(n) for n in sizes], bool(drop_remainder))
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of ``size`` elements in a row each, one for each leaf of the elements."""
        size, stride = _number(size, "size"), _number(stride, "stride")
        shift = size if shift is None else _number(shift, "shift")
        leaves = [len(flat_specs(leaf)) for leaf in nest.flatten(self._spec)]
        spec = nest.map_structure(DatasetSpec, self._spec)
        return self._step("window", size, shift, stride, bool(drop_remainder), leaves, spec=spec)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None,
                        name=None):  # fmt: skip
        """What is made of groups of elements with equal keys."""
        from tidemark.data import _grouping  # it imports this module

        return _grouping.by_window(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes,
                                  padded_shapes=None, padding_values=None,
                                  pad_to_bucket_boundary=False, no_padding=False,
                                  drop_remainder=False, name=None):  # fmt: skip
        """Batches of elements of like length."""
        from tidemark.data import _grouping  # it imports this module

        return _grouping.by_length(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
            padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Elements thrown away until classes have the target's distribution: (class, element)."""
        from tidemark.data import _choosing  # it imports this module

        return _choosing.resample(self, class_func, target_dist, initial_dist, seed)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Elements drawn from a buffer of as many."""
        buffer = _number(buffer_size, "buffer_size")
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self.shuffle_by(buffer, seeds_of(seed), again)

    def shuffle_by(self, buffer_size, seeds, again):
        """``shuffle`` with the two seeds that were made of the program's and an operation's."""
        found = self._step("shuffle", buffer_size, seeds, again)
        found._varies = again
        return found

    def repeat(self, count=None, name=None):
        """The elements again, ``count`` times or without end."""
        return self._step("repeat", -1 if count is None else _number(count))

    def take(self, count, name=None):
        """The first elements."""
        return self._step("take", _number(count))

    def skip(self, count, name=None):
        """All but the first elements."""
        return self._step("skip", _number(count))

    def shard(self, num_shards, index, name=None):
        """Every ``num_shards``-th element."""
        if known_number(num_shards) == _sharding.HINT:
            return _sharding.hinted(self)
        return self._step("shard", _number(num_shards, "num_shards"), _number(index, "index"))

    def concatenate(self, dataset, name=None):
        """The elements of this one, then of the other."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"a Dataset is wanted, got {type(dataset).__name__}")
        try:
            spec = nest.map_structure(
                lambda a, b: a.most_specific_common_supertype([b]), self._spec, dataset._spec
            )
        except (TypeError, ValueError):
            spec = None
        if spec is None or any(leaf is None for leaf in nest.flatten(spec)):
            raise TypeError(f"Incompatible dataset elements:\n  {self._spec} vs.   {dataset._spec}")
        found = self._step_by(lambda one, other: call(one, "concatenate", other), spec, dataset)
        found._made_by = ("concatenate", ())
        return found

    def cache(self, filename="", name=None):
        """Keeps the elements of the first whole pass, in memory or in a file."""
        if isinstance(filename, Tensor):
            filename = filename.numpy().decode()
        filename = str(filename)
        return self._step("cache_in_file", filename) if filename else self._step("cache")

    def prefetch(self, buffer_size, name=None):
        """Makes elements ahead, on a thread of its own."""
        return self._step("prefetch", _number(buffer_size, "buffer_size"))

    def enumerate(self, start=0, name=None):
        """Pairs of a number and an element."""
        return DatasetV2.zip(DatasetV2.range(start, 2**62), self)

    def scan(self, initial_state, scan_func, name=None):
        """Elements made from a state that goes along."""
        from tidemark.data import _grouping  # it imports this module

        return _grouping.scan(self, initial_state, scan_func)

    def unique(self, name=None):
        """Each different element once."""
        kinds = (dtypes.int32, dtypes.int64, dtypes.string)
        if not isinstance(self._spec, TensorSpec) or self._spec.dtype not in kinds:
            raise TypeError(
                "`tf.data.Dataset.unique` only supports inputs with a single `tf.int32`, "
                f"`tf.int64`, or `tf.string` component, got {self._spec!r}"
            )
        return self._step("unique")

    def ignore_errors(self, log_warning=False, name=None):
        """Leaves out the elements that end in errors."""
        return self._step("ignore_errors", bool(log_warning))

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes all elements into a folder; ``load`` reads them."""
        from tidemark.data import _saving  # it imports this module

        _saving.save(self, path, shard_func)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Keeps the elements of the first whole pass in a folder."""
        from tidemark.data import _saving  # it imports this module

        return _saving.snapshot(self, path)

    def apply(self, transformation_func, name=None):
        """The function of the dataset."""
        found = transformation_func(self)
        if not isinstance(found, DatasetV2):
            raise TypeError("`transformation_func` must return a `tf.data.Dataset` object")
        return found

    def reduce(self, initial_state, reduce_func, name=None):
        """The state after all elements: ``state = reduce_func(state, element)``."""
        if _tidemark.is_tracing():
            from tidemark.data._staged_reduce import staged_reduce  # it imports this module

            return staged_reduce(self, initial_state, reduce_func)
        state = tensors_of(initial_state)
        for element in self:
            state = next_state(state, reduce_func(state, element))
        return state

    # --- looking at it -----------------------------------------------------------------------

    def __iter__(self):
        return Iterator.of_each_run(self) if _tidemark.is_tracing() else Iterator(self)

    def as_numpy_iterator(self):
        """The elements as NumPy arrays."""
        return NumpyIterator(self)

    def get_single_element(self, name=None):
        """The only element."""
        if _tidemark.is_tracing():
            handle = self._handle
            if isinstance(handle, StagedHandle):
                tensors = python_call(
                    lambda n: _only(_tidemark.dataset_from_tensor(n)),
                    [handle.as_tensor()], types_of(self._spec),
                )  # fmt: skip
            else:
                tensors = python_call(lambda: _only(handle), [], types_of(self._spec))
            return pack(self._spec, list(tensors))
        return pack(self._spec, _only(self._handle))

    def cardinality(self, name=None):
        """The number of elements, -1: without end, -2: not known."""
        count = self._handle.cardinality()
        return count if isinstance(count, Tensor) else convert_to_tensor(count, dtype=dtypes.int64)

    def __len__(self):
        count = self._handle.cardinality()
        if isinstance(count, Tensor):
            raise TypeError("The dataset length is unknown: a function makes it when it runs.")
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
        any_order = options.deterministic is False
        found = self._step_by(lambda handle: call(handle, "in_any_order") if any_order else handle)
        found._options, found._made_by = merged, ("options", ())
        return found

    def options(self):
        """The options."""
        return self._options

    def _parallel(self, number):
        if number is None:
            return 1
        number = _number(number, "num_parallel_calls")
        if isinstance(number, Tensor) or number != AUTOTUNE:
            return number
        return self._options.threading.private_threadpool_size or _tidemark.num_threads()

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


def _whole(parts):
    """An element again, from how it was spread over arguments."""
    return parts[0] if len(parts) == 1 else parts


def _only(handle):
    """The tensors of the only element."""
    iterator = handle.iterate()
    element = iterator.next()
    if element is None or iterator.next() is not None:
        what = "Dataset was empty." if element is None else "Dataset had more than one element."
        raise InvalidArgumentError(None, None, what)
    return element


Dataset = DatasetV2
