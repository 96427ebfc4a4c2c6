"""``tf.data.experimental``: older names of what datasets can do."""

from __future__ import annotations

import enum as _enum

from tidemark import dtypes
from tidemark._export import refusing as _refusing
from tidemark._graph.tracing import is_tracing
from tidemark._tensor.creation import get_static_value
from tidemark._tensor.optional import Optional
from tidemark.data._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, DatasetV2
from tidemark.data._iterator import Iterator
from tidemark.data._options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from tidemark.data._placed import on_device as _on_device
from tidemark.data._placed import prefetched_on_device as _prefetched_on_device
from tidemark.errors import UnimplementedError


def Counter(start=0, step=1, dtype=dtypes.int64):
    """Numbers without end."""
    return DatasetV2.counter(start, step, dtype)


def RandomDataset(seed=None, rerandomize_each_iteration=None, name=None):
    """Random numbers without end."""
    return DatasetV2.random(seed, rerandomize_each_iteration)


def cardinality(dataset):
    """The number of elements, -1: without end, -2: not known."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """Says how many elements a dataset has; another number is an error."""
    return lambda dataset: dataset._step("counted", int(expected_cardinality))


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What ``tf.compat.v1.train.Saver`` saves of a graph's iterator."""
    from tidemark._v1.iterators import make_saveable_from_iterator  # few programs ask

    return make_saveable_from_iterator(iterator, external_state_policy)


def get_single_element(dataset):
    """The only element."""
    return dataset.get_single_element()


def at(dataset, index):
    """The element at an index; OutOfRangeError where there is none. The elements before it are
    passed over, so those far back cost as much as they would in a loop."""
    if dataset._reshuffles():
        raise UnimplementedError(
            None,
            None,
            "random access needs one order of the elements, and shuffle() draws another for each "
            "iterator: pass it reshuffle_each_iteration=False, or cache() its elements",
        )
    known = get_static_value(index)
    if known is not None and known < 0:  # what is behind all elements is not there, either
        dataset, index = dataset.take(0), 0
    rest = dataset.skip(index)
    iterator = Iterator.of_each_run(rest) if is_tracing() else Iterator(rest)
    return iterator.get_next()


def get_structure(dataset_or_iterator):
    """The type of the elements."""
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator):
    """The next element, or an optional without a value."""
    return iterator.get_next_as_optional()


def from_list(elements, name=None):
    """These elements."""
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    found = DatasetV2.from_tensors(elements[0])
    for element in elements[1:]:
        found = found.concatenate(DatasetV2.from_tensors(element))
    return found


def to_variant(dataset):
    """A tensor that stands for the dataset."""
    return dataset._handle.as_tensor()


def from_variant(variant, structure):
    """The dataset that a tensor stands for."""
    from tidemark.data._staged_handles import handle_of  # it imports this module

    return DatasetV2(handle_of(variant), structure)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Elements of the datasets by chance."""
    return DatasetV2.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Elements of the datasets by name."""
    return DatasetV2.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Writes all elements into a folder."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    """What ``save`` wrote."""
    return DatasetV2.load(path, element_spec, compression, reader_func)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """What is made of groups of elements with equal keys."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


_OF_TABLES = ("DatasetInitializer", "Reducer", "group_by_reducer", "index_table_from_dataset",
              "table_from_dataset")  # fmt: skip


def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes,
                              padded_shapes=None, padding_values=None, pad_to_bucket_boundary=False,
                              no_padding=False, drop_remainder=False):  # fmt: skip
    """Batches of elements of like length."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """Elements thrown away until classes have the target's distribution."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def scan(initial_state, scan_func):
    """Elements made from a state that goes along."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    """The elements before the first for which the predicate is false."""
    return lambda dataset: dataset.take_while(predicate)


def unique():
    """Each different element once."""
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning=False):
    """Leaves out the elements that end in errors."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def enumerate_dataset(start=0):
    """Pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    """Elements of different sizes as ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size, row_shape):
    """Elements as rows of sparse tensors."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """Keeps the elements of the first whole pass in a folder."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False,
                  num_parallel_calls=None):  # fmt: skip
    """The function of every element, in batches."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """The elements again and again, in another order each time."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False,
                        buffer_output_elements=None, prefetch_input_elements=None):  # fmt: skip
    """The elements of several datasets at a time, in turn."""
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, num_parallel_calls=cycle_length
    )


def unbatch():
    """The rows of the elements."""
    return lambda dataset: dataset.unbatch()


def prefetch_to_device(device, buffer_size=None):
    """Makes elements ahead, in the memory of a device: their copies are under way when they are
    asked for. Behind it a function computes with them where they lie."""
    count = 2 if buffer_size is None else buffer_size
    return lambda dataset: _prefetched_on_device(dataset, device, count)


def copy_to_device(target_device, source_device="/cpu:0"):
    """The elements in the memory of a device; strings stay where they are."""
    return lambda dataset: _on_device(dataset, target_device)


__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "ThreadingOptions",
]

SHARD_HINT = -1


class AutotuneAlgorithm(_enum.Enum):
    """How TensorFlow chooses sizes and numbers of threads; here they are chosen once."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


_OF_EXAMPLES = ("CsvDataset", "TFRecordWriter", "make_batched_features_dataset",
                "make_csv_dataset", "pad_to_cardinality", "parse_example_dataset")  # fmt: skip


def __getattr__(name):
    if name in _OF_EXAMPLES:
        from tidemark.data import _examples  # few programs read files so

        return getattr(_examples, name)
    if name in _OF_TABLES:
        from tidemark.data import _tables  # few programs make tables so

        return getattr(_tables, name)
    return _refusing("tf.data.experimental")(name)


def __dir__():
    return sorted(
        {*_OF_EXAMPLES, *_OF_TABLES, *(name for name in globals() if not name.startswith("_"))}
    )
