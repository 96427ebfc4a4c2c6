"""Datasets of files of examples and of comma-separated values: ``tf.data.experimental``."""

from __future__ import annotations

import csv

import tidemark as tf
from tidemark import dtypes
from tidemark.data._dataset import AUTOTUNE, DatasetV2
from tidemark.data._files import TextLineDataset as _Lines


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Batches of serialized examples become dictionaries of tensors."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: dataset.map(lambda texts: tf.io.parse_example(texts, features))


def make_batched_features_dataset(
    file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
    num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
    prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
    sloppy_ordering=False, drop_final_batch=False,
):  # fmt: skip
    """Dictionaries of tensors, a batch at a time, from files of serialized examples."""
    reader = reader or tf.data.TFRecordDataset
    files = DatasetV2.list_files(file_pattern, shuffle, shuffle_seed)
    records = files.flat_map(lambda name: reader(name, *(reader_args or ())))
    if isinstance(records.element_spec, tuple) and len(records.element_spec) == 2:
        records = records.map(lambda _, value: value)  # keys and values
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    batches = records.batch(batch_size, drop_final_batch or num_epochs is None)
    parsed = batches.map(lambda texts: tf.io.parse_example(texts, features))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The specified `label_key` ({label_key}) is not one of the `features`' keys."
            )
        parsed = parsed.map(lambda found: _apart(found, label_key))
    return parsed.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _apart(found, label_key):
    rest = dict(found)
    return rest, rest.pop(label_key)


class CsvDataset(DatasetV2):
    """Tuples of the columns of files of comma-separated values."""

    def __new__(cls, filenames, record_defaults, compression_type=None, buffer_size=None,
                header=False, field_delim=",", use_quote_delim=True, na_value="",
                select_cols=None, exclude_cols=None):  # fmt: skip
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Only one of `select_cols` and `exclude_cols` may be specified.")
        if exclude_cols is not None:
            raise NotImplementedError("name the columns to take in `select_cols`")
        defaults = [_default(one) for one in record_defaults]
        names = filenames if isinstance(filenames, DatasetV2) else DatasetV2.from_tensor_slices(
            tf.reshape(tf.convert_to_tensor(filenames, dtypes.string), [-1])
        )  # fmt: skip
        lines = names.flat_map(lambda name: _Lines(name, compression_type).skip(1 if header else 0))

        def fields(line):
            found = tf.io.decode_csv(
                line, defaults, field_delim, use_quote_delim, na_value, select_cols
            )
            return tuple(found)

        return lines.map(fields)


def _default(given):
    """A dtype says that the field has to be there; a value stands in for one that is not."""
    if isinstance(given, dtypes.DType):
        return tf.constant([], given)
    value = tf.convert_to_tensor(given)
    return tf.reshape(value, [-1])


def make_csv_dataset(
    file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
    select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
    num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
    prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
    num_rows_for_inference=100, compression_type=None, ignore_errors=False,
    encoding="utf-8",
):  # fmt: skip
    """Dictionaries of columns, a batch at a time; types are guessed where none are given."""
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    files = sorted(name for pattern in patterns for name in tf.io.gfile.glob(pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    how = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else 3}
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` argument.")
        with tf.io.gfile.GFile(files[0]) as file:
            column_names = next(csv.reader(file, **how))
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    chosen = _chosen(select_columns, column_names)
    if column_defaults is None:
        column_defaults = _guessed(files, chosen, header, num_rows_for_inference, na_value, how)
    elif len(column_defaults) == len(column_names) != len(chosen):
        column_defaults = [column_defaults[i] for i in chosen]
    names = [column_names[i] for i in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {label_name!r}")
    rows = CsvDataset(
        DatasetV2.from_tensor_slices(files), column_defaults, compression_type,
        header=header, field_delim=field_delim, use_quote_delim=use_quote_delim,
        na_value=na_value, select_cols=chosen,
    )  # fmt: skip
    if ignore_errors:
        rows = rows.ignore_errors()
    if shuffle:
        rows = rows.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        rows = rows.repeat(num_epochs)

    def keyed(*columns):
        found = dict(zip(names, columns, strict=True))
        return found if label_name is None else _apart(found, label_name)

    batches = rows.batch(batch_size, num_epochs is None).map(keyed)
    return batches.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _chosen(select_columns, column_names):
    if select_columns is None:
        return list(range(len(column_names)))
    places = [c if isinstance(c, int) else column_names.index(c) for c in select_columns]
    return sorted(places)


def _guessed(files, chosen, header, most, na_value, how):
    """A default of each column: of the narrowest type that all the rows looked at are of."""
    kinds = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    found = [0] * len(chosen)
    seen = 0
    for name in files:
        with tf.io.gfile.GFile(name) as file:
            rows = csv.reader(file, **how)
            if header:
                next(rows, None)
            for row in rows:
                if seen == most:
                    break
                seen += 1
                for at, column in enumerate(chosen):
                    if row[column] not in ("", na_value):
                        found[at] = max(found[at], _width(row[column]))
    return [tf.constant([""] if kinds[k] == dtypes.string else [0], kinds[k]) for k in found]


def _width(text):
    try:
        number = int(text)
    except ValueError:
        pass
    else:
        return 0 if -(2**31) <= number < 2**31 else 1 if -(2**63) <= number < 2**63 else 3
    try:
        number = float(text)
    except ValueError:
        return 4
    return 2 if abs(number) <= 3.4028234663852886e38 or number != number else 3


class TFRecordWriter:
    """Writes a dataset of scalar strings to a file of records."""

    def __init__(self, filename, compression_type=None):
        self._filename, self._compression = filename, compression_type

    def write(self, dataset):
        """Writes all elements."""
        spec = dataset.element_spec
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got "
                            f"{type(dataset)}.")  # fmt: skip
        if spec.dtype != dtypes.string or not spec.shape.is_compatible_with([]):
            raise TypeError(f"Invalid `dataset`. Expected a dataset of scalar strings but got "
                            f"{spec}.")  # fmt: skip
        with tf.io.TFRecordWriter(self._filename, self._compression) as writer:
            for record in dataset:
                writer.write(record.numpy())


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Dictionaries with whether they are real, and as many more as are wanted, which are not."""

    def padded(dataset):
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        known = int(dataset.cardinality())
        if known < 0:
            raise ValueError("`pad_to_cardinality` needs a dataset of known cardinality.")
        if known > cardinality:
            raise ValueError(f"The dataset has {known} elements, more than {cardinality}.")
        real = dataset.map(lambda x: {**x, mask_key: tf.constant(True)})
        more = dataset.repeat().take(cardinality - known)
        unreal = more.map(lambda x: {**tf.nest.map_structure(tf.zeros_like, x),
                                     mask_key: tf.constant(False)})  # fmt: skip
        return real.concatenate(unreal)

    return padded
