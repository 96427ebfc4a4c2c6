"""Operations on datasets and iterators: those of ``tf.data``, behind handles.

An element is a tuple of components, as TensorFlow's kernels see it. What an operation is told about
the types and shapes of elements is not asked for: the dataset knows.
"""

from __future__ import annotations

import tidemark as tf
from tidemark._tensorflow.raw.handles import held, resource, variant
from tidemark.data.experimental import at

_PASSED_ON = (
    "AssertNextDataset", "AssertPrevDataset", "BytesProducedStatsDataset", "FinalizeDataset",
    "LatencyStatsDataset", "MaxIntraOpParallelismDataset", "ModelDataset",
    "NonSerializableDataset", "OptimizeDataset", "OptimizeDatasetV2", "OptionsDataset",
    "PrivateThreadPoolDataset", "RewriteDataset", "ThreadPoolDataset",
)  # fmt: skip


def dataset_of(handle):
    """The dataset behind a handle."""
    return held(handle, tf.data.Dataset)


def _components(element):
    return element if isinstance(element, tuple) else (element,)


def _wrapped(dataset):
    """A handle of the dataset, whose elements are tuples."""
    if not isinstance(dataset.element_spec, tuple):
        dataset = dataset.packed_as((dataset.element_spec,))
    return variant(dataset)


def _called(function, others):
    """The function over components, and what it is called with besides."""

    def called(*parts):
        made = function(*parts, *others)
        return tuple(made) if isinstance(made, (list, tuple)) else (made,)

    return called


def _truth(function, others):
    return lambda *parts: _called(function, others)(*parts)[0]


def _inner(function, others):
    """The function, which gives a dataset."""
    return lambda *parts: dataset_of(_called(function, others)(*parts)[0])


def _given(method):
    """The operation that is a method of the dataset behind its first input."""

    def made(input_dataset, **given):
        return _wrapped(method(dataset_of(input_dataset), **given))

    return made


def _seed(seed, seed2):
    return None if int(seed) == 0 and int(seed2) == 0 else (int(seed) << 32 | int(seed2))


# --- sources -------------------------------------------------------------------------------------


def _range(start, stop, step, output_types, **_):
    return _wrapped(tf.data.Dataset.range(start, stop, step, output_type=output_types[0]))


def _tensor(components, **_):
    return variant(tf.data.Dataset.from_tensors(tuple(components)))


def _slices(components, **_):
    return variant(tf.data.Dataset.from_tensor_slices(tuple(components)))


def _sparse_slices(indices, values, dense_shape):
    whole = tf.SparseTensor(indices, values, dense_shape)
    rows = tf.data.Dataset.from_tensor_slices(whole)
    return variant(rows.map(lambda one: (one.indices, one.values, one.dense_shape)))


def _listed(tensors, output_types, **_):
    width = len(output_types)
    rows = [tuple(tensors[i : i + width]) for i in range(0, len(tensors), width)]
    if not rows:
        raise tf.errors.InvalidArgumentError(None, None, "tensors has to hold an element")
    return variant(tf.data.experimental.from_list(rows))


def _text_lines(filenames, compression_type, buffer_size, **_):
    return _wrapped(tf.data.TextLineDataset(filenames, compression_type, buffer_size))


def _records(filenames, compression_type, buffer_size, byte_offsets=None, **_):
    return _wrapped(tf.data.TFRecordDataset(filenames, compression_type, buffer_size))


def _fixed_records(filenames, header_bytes, record_bytes, footer_bytes, buffer_size,
                   compression_type="", **_):  # fmt: skip
    return _wrapped(
        tf.data.FixedLengthRecordDataset(
            filenames, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type
        )
    )


def _matching_files(patterns):
    return _wrapped(tf.data.Dataset.list_files(patterns, shuffle=False))


def _random(seed, seed2, rerandomize_each_iteration=None, **_):
    return _wrapped(tf.data.Dataset.random(_seed(seed, seed2), rerandomize_each_iteration))


def _generated(
    init_func_other_args, next_func_other_args, finalize_func_other_args, init_func, next_func,
    finalize_func, output_types, output_shapes, **_,
):  # fmt: skip
    def elements():
        state = _called(init_func, init_func_other_args)()
        try:
            while True:
                yield _called(next_func, next_func_other_args)(*state)
        except tf.errors.OutOfRangeError:
            return
        finally:
            _called(finalize_func, finalize_func_other_args)(*state)

    shapes = tuple(tf.TensorShape(None if s == "?" else s) for s in output_shapes)
    return variant(tf.data.Dataset.from_generator(elements, tuple(output_types), shapes))


def _sql(driver_name, data_source_name, query, output_types, **_):
    made = tf.data.experimental.SqlDataset(
        driver_name, data_source_name, query, tuple(output_types)
    )
    return _wrapped(made)


def _csv(filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value,
         select_cols, record_defaults, exclude_cols=(), **_):  # fmt: skip
    chosen = [int(column) for column in select_cols]
    left_out = [int(column) for column in exclude_cols]
    defaults = [one if int(tf.size(one)) else one.dtype for one in record_defaults]
    made = tf.data.experimental.CsvDataset(
        filenames, defaults, compression_type, buffer_size, bool(header), _text(field_delim),
        bool(use_quote_delim), _text(na_value), chosen or None, left_out or None,
    )  # fmt: skip
    return _wrapped(made)


def _text(tensor):
    return tensor.numpy().decode()


def _loaded(path, compression, **_):
    return _wrapped(tf.data.Dataset.load(_text(path), compression=compression or None))


# --- steps ---------------------------------------------------------------------------------------


def _concatenated(input_dataset, another_dataset, **_):
    return variant(dataset_of(input_dataset).concatenate(dataset_of(another_dataset)))


def _zipped(input_datasets, **_):
    parts = tuple(dataset_of(one) for one in input_datasets)
    joined = tf.data.Dataset.zip(parts)
    specs = tuple(one for row in joined.element_spec for one in _components(row))
    return variant(joined.packed_as(specs))


def _sampled(dataset, rate, seed, seed2, **_):
    chosen = tf.data.Dataset.random(_seed(seed, seed2)).map(lambda n: tf.cast(n, tf.float64))
    below = lambda _, number: number < tf.cast(rate, tf.float64) * 2.0**32  # noqa: E731
    return tf.data.Dataset.zip((dataset, chosen)).filter(below).map(lambda row, _: row)


def _sparse_batch(dataset, batch_size, row_shape, **_):
    rows = dataset.map(lambda element: element).sparse_batch(batch_size, row_shape)
    return rows.map(lambda one: (one.indices, one.values, one.dense_shape))


def _padded(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder=False, **_):
    made = dataset_of(input_dataset).padded_batch(
        batch_size, tuple(padded_shapes), tuple(padding_values), _flag(drop_remainder)
    )
    return _wrapped(made)


def _flag(value):
    return bool(value)


def _reduced(input_dataset, initial_state, other_arguments, f, **_):
    step = lambda state, row: _called(f, other_arguments)(*state, *_components(row))  # noqa: E731
    return list(dataset_of(input_dataset).reduce(tuple(initial_state), step))


def _scanned(dataset, initial_state, other_arguments, f, **_):
    count = len(initial_state)

    def step(state, row):
        made = _called(f, other_arguments)(*state, *_components(row))
        return made[:count], made[count:]

    return dataset.scan(tuple(initial_state), step)


def _windows(dataset, size, shift, stride, drop_remainder, **_):
    return dataset.window(size, shift, stride, _flag(drop_remainder))


def _window_rows(dataset, window_size, window_shift, window_stride, drop_remainder, **_):
    """Windows whose elements are batches, by TensorFlow's older operation."""
    windows = dataset.window(window_size, window_shift, window_stride, drop_remainder)
    return windows.flat_map(
        lambda *parts: tf.data.Dataset.zip(tuple(part.batch(window_size) for part in parts))
    )


def _grouped_by_window(
    dataset, key_func, reduce_func, window_size_func, key_func_other_arguments,
    reduce_func_other_arguments, window_size_func_other_arguments, **_,
):  # fmt: skip
    def reduced(key, window):
        return dataset_of(
            _called(reduce_func, reduce_func_other_arguments)(key, variant(window))[0]
        )

    return dataset.group_by_window(
        _truth(key_func, key_func_other_arguments), reduced,
        window_size_func=_truth(window_size_func, window_size_func_other_arguments),
    )  # fmt: skip


def _directed(selector_input_dataset, data_input_datasets, stop_on_empty_dataset=False, **_):
    choices = dataset_of(selector_input_dataset).map(lambda choice: choice)
    chosen = tf.data.Dataset.choose_from_datasets(
        [dataset_of(one) for one in data_input_datasets], choices, stop_on_empty_dataset
    )
    return _wrapped(chosen)


def _interleaved(dataset, cycle_length, block_length, f, other_arguments, **_):
    return dataset.interleave(_inner(f, other_arguments), int(cycle_length), int(block_length))


_ORDERS = {"true": True, "false": False}  # "default" says neither


def _mapped(dataset, f, other_arguments, num_parallel_calls=None, deterministic="default", **_):
    return dataset.map(_called(f, other_arguments), num_parallel_calls, _ORDERS.get(deterministic))


def _mapped_batches(dataset, f, other_arguments, batch_size, drop_remainder, **_):
    return dataset.map(_called(f, other_arguments)).batch(batch_size, _flag(drop_remainder))


def _shuffled(dataset, buffer_size, seed=0, seed2=0, reshuffle_each_iteration=True, **_):
    return dataset.shuffle(buffer_size, _seed(seed, seed2), reshuffle_each_iteration)


def _shuffled_and_repeated(dataset, count, **given):
    return _shuffled(dataset, **given).repeat(count)


def _saved(input_dataset, path, compression, **_):
    dataset_of(input_dataset).save(_text(path), compression=compression or None)


def _saved_on(input_dataset, path, compression, **given):
    _saved(input_dataset, path, compression)
    return input_dataset


def _to_records(input_dataset, filename, compression_type):
    kind = _text(compression_type)
    with tf.io.TFRecordWriter(_text(filename), tf.io.TFRecordOptions(kind)) as writer:
        for (record,) in map(_components, dataset_of(input_dataset)):
            writer.write(record.numpy())


_METHODS = {
    "AssertCardinalityDataset": lambda d, cardinality, **_: d.apply(
        tf.data.experimental.assert_cardinality(cardinality)
    ),
    "AutoShardDataset": lambda d, num_workers, index, **_: d.shard(num_workers, index),
    "BatchDataset": lambda d, batch_size, **_: d.batch(batch_size),
    "BatchDatasetV2": lambda d, batch_size, drop_remainder, **_: d.batch(
        batch_size, _flag(drop_remainder)
    ),
    "CacheDataset": lambda d, filename, **_: d.cache(_text(filename)),
    "CacheDatasetV2": lambda d, filename, **_: d.cache(_text(filename)),
    "DenseToSparseBatchDataset": _sparse_batch,
    "FilterDataset": lambda d, predicate, other_arguments, **_: d.filter(
        _truth(predicate, other_arguments)
    ),
    "FlatMapDataset": lambda d, f, other_arguments, **_: d.flat_map(_inner(f, other_arguments)),
    "GroupByWindowDataset": _grouped_by_window,
    "IgnoreErrorsDataset": lambda d, log_warning=False, **_: d.ignore_errors(log_warning),
    "InterleaveDataset": _interleaved,
    "LegacyParallelInterleaveDatasetV2": _interleaved,
    "MapAndBatchDataset": _mapped_batches,
    "MapDataset": _mapped,
    "ParallelBatchDataset": lambda d, batch_size, drop_remainder, **_: d.batch(
        batch_size, _flag(drop_remainder)
    ),
    "ParallelFilterDataset": lambda d, predicate, other_arguments, **_: d.filter(
        _truth(predicate, other_arguments)
    ),
    "ParallelInterleaveDataset": _interleaved,
    "ParallelInterleaveDatasetV2": _interleaved,
    "ParallelInterleaveDatasetV3": _interleaved,
    "ParallelInterleaveDatasetV4": _interleaved,
    "ParallelMapDataset": _mapped,
    "ParallelMapDatasetV2": _mapped,
    "PrefetchDataset": lambda d, buffer_size, **_: d.prefetch(buffer_size),
    "RebatchDatasetV2": lambda d, batch_sizes, drop_remainder, **_: d.rebatch(
        batch_sizes, _flag(drop_remainder)
    ),
    "RepeatDataset": lambda d, count, **_: d.repeat(count),
    "SamplingDataset": _sampled,
    "ScanDataset": _scanned,
    "ShardDataset": lambda d, num_shards, index, **_: d.shard(num_shards, index),
    "ShuffleAndRepeatDataset": _shuffled_and_repeated,
    "ShuffleAndRepeatDatasetV2": _shuffled_and_repeated,
    "ShuffleDataset": _shuffled,
    "ShuffleDatasetV2": _shuffled,
    "ShuffleDatasetV3": _shuffled,
    "SkipDataset": lambda d, count, **_: d.skip(count),
    "SlidingWindowDataset": _window_rows,
    "SnapshotDatasetV2": lambda d, path, compression, **_: d.snapshot(_text(path), compression),
    "TakeDataset": lambda d, count, **_: d.take(count),
    "TakeWhileDataset": lambda d, predicate, other_arguments, **_: d.take_while(
        _truth(predicate, other_arguments)
    ),
    "UnbatchDataset": lambda d, **_: d.unbatch(),
    "UniqueDataset": lambda d, **_: d.map(lambda element: element).unique(),
    "WindowDataset": _windows,
    **dict.fromkeys(_PASSED_ON, lambda d, **_: d),
}


# --- iterators, single elements, optionals -------------------------------------------------------


class _Iterator:
    """A place for the iterator that another operation puts here."""

    def __init__(self):
        self.elements = None

    def next(self):
        if self.elements is None:
            raise tf.errors.FailedPreconditionError(
                None, None,
                "GetNext() failed because the iterator has not been initialized. Ensure that you "
                "have run the initializer operation for this iterator before getting the next "
                "element.",
            )  # fmt: skip
        found = next(self.elements, None)
        if found is None:
            raise tf.errors.OutOfRangeError(None, None, "End of sequence")
        return list(_components(found))


class _Held:
    """The components of an optional, or None."""

    def __init__(self, components):
        self.components = components

    def value(self):
        if self.components is None:
            raise tf.errors.InvalidArgumentError(
                None, None, "The given optional does not have a value."
            )
        return self.components


def _iterator(**_):
    return resource(_Iterator())


def _iterator_and_deleter(**_):
    return [_iterator(), variant(None)]


def _make_iterator(dataset, iterator):
    held(iterator, _Iterator).elements = iter(dataset_of(dataset))


def _next(iterator, **_):
    return held(iterator, _Iterator).next()


def _next_as_optional(iterator, **_):
    try:
        return variant(_Held(held(iterator, _Iterator).next()))
    except tf.errors.OutOfRangeError:
        return variant(_Held(None))


def _delete_iterator(handle, deleter):
    held(handle, _Iterator).elements = None


def _at(dataset, index, **_):
    return list(_components(at(dataset_of(dataset), index)))


def _single(dataset, **_):
    return list(_components(dataset_of(dataset).get_single_element()))


def _nothing(**_):
    return None


def _place(**_):
    """What iterators and caches are counted by in TensorFlow: here they go with their holders."""
    return resource(object())


def _place_and_deleter(**_):
    return [_place(), variant(None)]


_FUNCTIONS = {
    "AnonymousIteratorV2": _iterator_and_deleter,
    "AnonymousIteratorV3": _iterator,
    "AnonymousMemoryCache": _place_and_deleter,
    "AnonymousRandomSeedGenerator": _place_and_deleter,
    "AnonymousSeedGenerator": _place_and_deleter,
    "CSVDataset": _csv,
    "CSVDatasetV2": _csv,
    "ConcatenateDataset": _concatenated,
    "DatasetCardinality": lambda input_dataset, **_: dataset_of(input_dataset).cardinality(),
    "DatasetToSingleElement": _single,
    "DatasetToTFRecord": _to_records,
    "DeleteIterator": _delete_iterator,
    "DeleteMemoryCache": _nothing,
    "DeleteRandomSeedGenerator": _nothing,
    "DeleteSeedGenerator": _nothing,
    "DirectedInterleaveDataset": _directed,
    "DummyIterationCounter": _place,
    "DummyMemoryCache": _place,
    "DummySeedGenerator": _place,
    "FixedLengthRecordDataset": _fixed_records,
    "FixedLengthRecordDatasetV2": _fixed_records,
    "GeneratorDataset": _generated,
    "GetElementAtIndex": _at,
    "IteratorGetNext": _next,
    "IteratorGetNextAsOptional": _next_as_optional,
    "IteratorGetNextSync": _next,
    "IteratorV2": _iterator,
    "ListDataset": _listed,
    "LoadDataset": _loaded,
    "MakeIterator": _make_iterator,
    "MatchingFilesDataset": _matching_files,
    "OptionalFromValue": lambda components: variant(_Held(list(components))),
    "OptionalGetValue": lambda optional, **_: held(optional, _Held).value(),
    "OptionalHasValue": lambda optional: tf.constant(held(optional, _Held).components is not None),
    "OptionalNone": lambda: variant(_Held(None)),
    "PaddedBatchDataset": _padded,
    "PaddedBatchDatasetV2": _padded,
    "RandomDataset": _random,
    "RandomDatasetV2": _random,
    "RangeDataset": _range,
    "ReduceDataset": _reduced,
    "SaveDataset": _saved,
    "SaveDatasetV2": _saved_on,
    "SparseTensorSliceDataset": _sparse_slices,
    "SqlDataset": _sql,
    "TFRecordDataset": _records,
    "TFRecordDatasetV2": _records,
    "TensorDataset": _tensor,
    "TensorSliceDataset": _slices,
    "TextLineDataset": _text_lines,
    "ThreadPoolHandle": _place,
    "UnwrapDatasetVariant": lambda input_handle: input_handle,
    "WrapDatasetVariant": lambda input_handle: input_handle,
    "ZipDataset": _zipped,
}

_CURRENT = {**{name: _given(method) for name, method in _METHODS.items()}, **_FUNCTIONS}

# Kept in TensorFlow under their first names, for graphs that were written with them.
_EXPERIMENTAL = (
    "AssertNextDataset", "AutoShardDataset", "BytesProducedStatsDataset", "CSVDataset",
    "DatasetCardinality", "DatasetToTFRecord", "DenseToSparseBatchDataset",
    "DirectedInterleaveDataset", "GroupByWindowDataset", "IgnoreErrorsDataset",
    "LatencyStatsDataset", "MapAndBatchDataset", "MatchingFilesDataset",
    "MaxIntraOpParallelismDataset", "NonSerializableDataset", "ParallelInterleaveDataset",
    "PrivateThreadPoolDataset", "RandomDataset", "ScanDataset", "SlidingWindowDataset",
    "SqlDataset", "TakeWhileDataset", "ThreadPoolDataset", "ThreadPoolHandle", "UnbatchDataset",
    "UniqueDataset",
)  # fmt: skip

WRITTEN = {**_CURRENT, **{f"Experimental{name}": _CURRENT[name] for name in _EXPERIMENTAL}}
