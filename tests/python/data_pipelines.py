"""Pipelines as expressions over ``tf``, ``D`` (tf.data.Dataset) and ``E`` (tf.data.experimental).

What each gives is recorded from TensorFlow in data/tf_data.json (tools/record_data.py).
"""

NUMBERS = [
    "D.range(5)", "D.range(2, 9, 3)", "D.range(9, 2, -3)", "D.range(3, output_type=tf.float32)",
    "D.range(0)", "D.counter(start=3, step=-2).take(4)", "D.counter(2, 3, tf.int32).take(3)",
    "E.Counter(1, 2).take(3)",
    "D.from_tensors([1, 2])", "D.from_tensors({'a': 1, 'b': [2.0]})",
    "D.from_tensor_slices(([1, 2], ['x', 'y']))", "D.from_tensor_slices({'a': [1, 2]})",
    "D.from_tensor_slices([[1, 2], [3, 4]])", "E.from_list([(1, 'a'), (2, 'b')])",
    "D.zip(D.range(3), D.range(5, 9))", "D.zip((D.range(3), {'k': D.range(2)}))",
    "D.range(3).concatenate(D.range(10, 12))", "D.range(3).enumerate()",
    "D.range(3).enumerate(start=5)",
    "D.from_generator(lambda n: ((i, [i] * i) for i in range(n)), args=(3,), output_signature=("
    "tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)))",
    "D.from_generator(lambda: iter([1, 2]), output_types=tf.int64, output_shapes=[])",
]  # fmt: skip
CHOICES = [
    "D.range(9).take(3)", "D.range(9).take(-1)", "D.range(9).skip(7)", "D.range(9).skip(-1)",
    "D.range(9).skip(20)", "D.range(9).shard(4, 1)", "D.range(9).filter(lambda x: x % 3 == 0)",
    "D.range(9).take_while(lambda x: x < 4)", "D.range(3).repeat(2)", "D.range(3).repeat(0)",
    "D.range(2).repeat().take(5)", "D.range(0).repeat(3)",
    "D.from_tensor_slices([3, 1, 3, 2, 1]).unique()",
    "D.from_tensor_slices(['b', 'a', 'b']).unique()",
    "D.range(3).cache().repeat(2)", "D.range(20).prefetch(3)", "D.range(5).prefetch(0)",
    "D.choose_from_datasets([D.range(3), D.range(10, 20)], D.from_tensor_slices("
    "tf.constant([0, 1, 1, 0, 0, 0, 1], tf.int64)))",
    "D.choose_from_datasets([D.range(3), D.range(10, 20)], D.from_tensor_slices("
    "tf.constant([0, 1, 1, 0, 0, 0, 1], tf.int64)), stop_on_empty_dataset=False)",
    "D.sample_from_datasets([D.range(4), D.range(9)], [1.0, 0.0], stop_on_empty_dataset=True)",
    "D.sample_from_datasets([D.range(4)])",
    "D.range(6).apply(E.assert_cardinality(6))", "D.range(5).apply(E.assert_cardinality(6))",
    "D.range(7).apply(E.assert_cardinality(6))",
    "D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1 / x, 'x'))"
    ".ignore_errors()",
]  # fmt: skip
ORDERS = [
    "D.range(10).shuffle(5, seed=3)", "D.range(10).shuffle(100, seed=3)",
    "D.range(10).shuffle(1, seed=3)", "D.range(30).shuffle(7, seed=0).batch(4)",
    "D.range(10).shuffle(5, seed=3, reshuffle_each_iteration=False).concatenate("
    "D.range(5).shuffle(5, seed=-9))",
    "D.range(10).shuffle(tf.constant(4, tf.int64), seed=12345678901)",
    "D.random(seed=4).take(6)", "D.random(seed=4, rerandomize_each_iteration=True).take(6)",
    "E.RandomDataset(7).take(3)",
    "D.range(8).shuffle(3, seed=1).map(lambda x: x * x).filter(lambda x: x % 2 == 0)",
]  # fmt: skip
BATCHES = [
    "D.range(7).batch(3)", "D.range(7).batch(3, drop_remainder=True)", "D.range(2).batch(5)",
    "D.range(7).batch(tf.constant(2, tf.int64))", "D.range(7).batch(3).unbatch()",
    "D.range(7).batch(2).rebatch(3)", "D.range(7).batch(2).rebatch(3, drop_remainder=True)",
    "D.range(10).batch(5).rebatch([1, 2])", "D.range(10).batch(5).rebatch([1, 3], True)",
    "D.zip(D.range(4), D.from_tensor_slices(['a', 'b', 'c', 'd'])).batch(3)",
    "D.range(1, 5).map(lambda n: tf.fill([n], n)).padded_batch(2)",
    "D.range(1, 5).map(lambda n: tf.fill([n], n)).padded_batch(3, padded_shapes=[6])",
    "D.range(1, 5).map(lambda n: tf.fill([n], n)).padded_batch(3, [None], tf.constant(-1,"
    " tf.int64), True)",
    "D.range(1, 4).map(lambda n: (n, tf.fill([n, 2], 'x'))).padded_batch(3, ([], [None, 3]))",
    "D.range(1, 4).map(lambda n: {'a': tf.fill([n], 0.5)}).padded_batch(2,"
    " padding_values={'a': 9.0})",
    "D.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(2, padded_shapes=[2])",
    "D.range(1, 5).map(lambda n: tf.fill([n], n)).ragged_batch(3)",
    "D.range(1, 5).map(lambda n: tf.fill([n], n)).ragged_batch(3, drop_remainder=True)",
    "D.range(1, 4).map(lambda n: tf.fill([n, n], n)).ragged_batch(3)",
    "D.range(4).ragged_batch(3)",
    "D.range(1, 4).map(lambda n: tf.fill([n], n)).sparse_batch(2, [4])",
    "D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []])).batch(2)",
    "D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []])).batch(2).unbatch()",
    "D.range(4).map(lambda n: tf.fill([n], n)).batch(2)",
]  # fmt: skip
FUNCTIONS = [
    "D.range(4).map(lambda x: x + 1)", "D.range(4).map(lambda x: (x, x * 2))",
    "D.range(4).map(lambda x: {'a': x})", "D.range(4).map(lambda x: [x, x + 1])",
    "D.range(9).map(lambda x: x * x, num_parallel_calls=3)",
    "D.range(9).map(lambda x: x * x, num_parallel_calls=-1, deterministic=True)",
    "D.zip(D.range(3), D.range(3)).map(lambda a, b: a + b)",
    "D.range(4).map(lambda x: tf.py_function(lambda v: v * 3, [x], tf.int64))",
    "D.range(4).flat_map(D.range)", "D.range(4).flat_map(lambda x: D.from_tensors(x).repeat(x))",
    "D.range(3).flat_map(lambda x: D.from_tensor_slices([x, x + 1]))",
    "D.range(3).flat_map(lambda x: D.range(2).map(lambda y: x * 10 + y))",
    "D.range(3).flat_map(lambda x: D.range(4).filter(lambda y: y != x).batch(2))",
    "D.range(3).flat_map(lambda x: D.zip(D.range(x), D.range(x)))",
    "D.range(3).flat_map(lambda x: D.range(5).take(x).concatenate(D.range(x)))",
    "D.range(6).interleave(lambda i: D.from_tensors(i).repeat(3), cycle_length=2, block_length=2)",
    "D.range(5).interleave(lambda i: D.range(i), cycle_length=3)",
    "D.range(5).interleave(lambda i: D.range(i), cycle_length=3, num_parallel_calls=2)",
    "D.range(5).interleave(lambda i: D.range(i), cycle_length=9, block_length=2,"
    " num_parallel_calls=-1)",
    "D.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))",
    "D.range(3).scan((0.5, 'a'), lambda s, x: ((s[0] * 2, s[1] + 'b'), (x, s)))",
    "D.range(3).scan(tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), s))",
    "D.range(3).scan(0, lambda s, x: (x, s))",
    "D.from_tensors(D.range(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + x))",
    "D.from_tensors(D.range(3).reduce((0, 1.0), lambda s, x: (s[0] + 1, s[1] * 2)))",
    "D.range(3).map(lambda x: D.range(x)).flat_map(lambda d: d)",
    "D.range(3).map(lambda x: D.range(x).reduce(x, lambda s, y: s + y))",
    "D.range(3).map(lambda x: D.from_tensors(x).get_single_element())",
    "D.range(3).map(lambda x: D.range(x).cardinality())",
]  # fmt: skip
GROUPS = [
    "D.range(7).window(3).flat_map(lambda w: w.batch(3))",
    "D.range(7).window(3, shift=1).flat_map(lambda w: w.batch(3))",
    "D.range(7).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))",
    "D.range(9).window(3, stride=2, shift=1).flat_map(lambda w: w.batch(3))",
    "D.range(9).window(3, shift=5, drop_remainder=True).flat_map(lambda w: w.batch(3))",
    "D.range(9).window(2, shift=4, stride=3).flat_map(lambda w: w.batch(3))",
    "D.range(7).window(2).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda a, b: a + b))",
    "D.range(7).window(3).map(lambda w: w.cardinality())",
    "D.zip(D.range(5), D.range(5, 10)).window(2).flat_map(lambda a, b: D.zip(a.batch(2),"
    " b.batch(2)))",
    "D.from_tensor_slices({'a': [1, 2, 3]}).window(2).flat_map(lambda w: w['a'])",
    "D.range(7).window(3).interleave(lambda w: w, cycle_length=2)",
    "D.range(7).window(3).shuffle(3, seed=2).flat_map(lambda w: w)",
    "D.range(7).window(3).skip(1).take(1).flat_map(lambda w: w.map(lambda x: -x))",
    "D.range(7).window(3).enumerate().flat_map(lambda i, w: w.map(lambda x: x + 100 * i))",
    "D.from_tensors(sum(int(x) for w in D.range(7).window(2) for x in w))",
    "D.range(10).group_by_window(lambda x: x % 3, lambda k, g: g.batch(2), window_size=2)",
    "D.range(10).group_by_window(lambda x: x % 3, lambda k, g: g.map(lambda x: (k, x)), 3)",
    "D.range(10).group_by_window(lambda x: x % 2, lambda k, g: g.batch(9),"
    " window_size_func=lambda k: k + 2)",
    "D.range(10).group_by_window(lambda x: x % 2, lambda k, g: g.reduce(k, lambda a, b: a + b)"
    " if False else g.take(1), window_size=2)",
    "D.range(1, 9).map(lambda n: tf.fill([n], n)).bucket_by_sequence_length("
    "lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2])",
    "D.range(1, 6).map(lambda n: tf.fill([n], n)).bucket_by_sequence_length("
    "lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True)",
    "D.range(1, 9).map(lambda n: tf.fill([n], n)).bucket_by_sequence_length("
    "lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True)",
    "D.range(1, 9).bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [3, 6], [2, 2, 2],"
    " no_padding=True, drop_remainder=True)",
]  # fmt: skip
ERRORS = [
    "D.range(3).batch(0)", "D.range(3).batch(-1)", "D.range(3).shuffle(0)",
    "D.range(3).window(0)", "D.range(3).map(lambda x: x + 'a')", "D.range(3).filter(lambda x: x)",
    "D.from_tensor_slices(3)", "D.from_tensor_slices(([1, 2], [1]))", "D.range(3, 0, 0)",
    "D.range()", "D.range(1, 2, 3, 4)", "D.range(3).flat_map(lambda x: x)",
    "D.range(3).shard(2, 2)", "D.range(3).concatenate(D.from_tensors('a'))", "D.zip(1)",
    "D.range(3).interleave(lambda x: D.range(2), cycle_length=0)",
    "D.range(3).map(lambda x: 1 // x)", "D.from_tensors(D.range(0).get_single_element())",
    "D.from_tensors(D.range(2).get_single_element())", "D.from_tensors([len(D.range(3).repeat())])",
    "D.from_tensors([len(D.range(3).filter(lambda x: True))])",
    "D.from_generator(5, output_types=tf.int32)", "D.from_generator(lambda: [1])",
    "D.from_generator(lambda: iter(['a']), output_signature=tf.TensorSpec([], tf.int32))",
    "D.from_generator(lambda: iter([[1, 2]]), output_signature=tf.TensorSpec([3], tf.int32))",
    "D.from_generator(lambda: iter([(1, 2)]), output_signature=tf.TensorSpec([], tf.int32))",
    "D.from_generator(lambda: iter([1]), output_signature=(tf.TensorSpec([], tf.int32),) * 2)",
    "D.from_generator(lambda: (1 // i for i in [1, 0]),"
    " output_signature=tf.TensorSpec([], tf.int32))",
    "D.from_tensor_slices([1.5]).unique()",
    "D.range(3).group_by_window(lambda x: 'a', lambda k, g: g, 2)",
    "D.range(3).group_by_window(lambda x: x, lambda k, g: k, 2)",
    "D.range(3).group_by_window(lambda x: x, lambda k, g: g)",
    "D.range(3).scan(0.5, lambda s, x: (x, x))", "D.sample_from_datasets([])",
    "D.sample_from_datasets([D.range(2)] * 2, weights=[1.0])",
    "D.choose_from_datasets([D.range(2)], D.range(2).map(lambda x: tf.cast(x, tf.int32)))",
    "D.choose_from_datasets([D.range(2)], D.range(5, 7))",
    "D.range(3).padded_batch(2, padded_shapes=[1])",
    "tf.data.TFRecordDataset('/nowhere/at/all')", "tf.data.TextLineDataset('/nowhere/at/all')",
]  # fmt: skip
ALL = [*NUMBERS, *CHOICES, *ORDERS, *BATCHES, *FUNCTIONS, *GROUPS, *ERRORS]


def plain(value):
    """What JSON can tell of a leaf of an element."""
    if hasattr(value, "to_list"):
        return {"ragged": value.to_list()}
    if hasattr(value, "dense_shape"):
        parts = (value.indices, value.values, value.dense_shape)
        return {"sparse": [plain(part) for part in parts]}
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "tolist"):
        value = value.tolist()
    return plain_list(value)


def plain_list(value):
    if isinstance(value, list):
        return [plain_list(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def shape_text(spec):
    """The type of an element, as far as both say it in one way."""
    kind = type(spec).__name__
    if isinstance(spec, dict):
        return {key: shape_text(part) for key, part in spec.items()}
    if isinstance(spec, (tuple, list)):
        return [shape_text(part) for part in spec]
    shape = getattr(spec, "shape", None)
    if shape is None or kind == "DatasetSpec":
        return kind
    sizes = None if shape.rank is None else shape.as_list()
    dtype = getattr(spec, "dtype", None)
    return [kind, sizes, getattr(dtype, "name", None)]


def answer(expression, tf):
    """What a pipeline gives: its type, the number of elements it tells, its elements; an error."""
    names = {"tf": tf, "D": tf.data.Dataset, "E": tf.data.experimental}
    try:
        dataset = eval(expression, names)
        elements = [tf.nest.map_structure(plain, element) for element in dataset]
        spec, count = shape_text(dataset.element_spec), int(dataset.cardinality())
    except Exception as error:
        return {"error": kind_of(error)}
    return {"spec": spec, "count": count, "elements": listed(elements)}


def listed(value):
    """Tuples as lists, as JSON has them."""
    if isinstance(value, (list, tuple)):
        return [listed(item) for item in value]
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return value


def kind_of(error):
    """The name of the type that a program would catch."""
    for kind in type(error).__mro__:
        if kind.__name__.endswith("Error") and not kind.__name__.startswith("_"):
            return kind.__name__
    return type(error).__name__
