"""More programs about graphs and sessions: TensorFlow 1's namespaces, operations by their
definitions, methods of graphs, mixed dtypes. See session_programs.py."""

import contextlib
import inspect
import os
import tempfile

import numpy as np
from session_programs import error_of, program, session, tf, v1

# --- TensorFlow 1's namespaces --------------------------------------------------------------------


@program
def images_resized_as_in_tensorflow_1():
    x = np.arange(2 * 5 * 4, dtype=np.float32).reshape(2, 5, 4, 1) ** 1.5
    out = []
    for method in range(3):
        for align_corners in (False, True):
            for size in ([3, 7], [5, 4], [10, 3], [1, 1]):
                resized = v1.image.resize(x, size, method, align_corners)
                out.append(resized.numpy().ravel().round(2))  # sums of four differ by an ulp
    by_area = v1.image.resize(x, [3, 7], v1.image.ResizeMethod.AREA)
    out.append(by_area.numpy().ravel().round(2))
    centered = v1.image.resize_bilinear(x, [3, 3], half_pixel_centers=True)
    out.append(centered.numpy().ravel().round(2))
    out.append(v1.image.resize_images(x[0], [2, 2]).shape.as_list())
    kept = v1.image.resize(x.astype(np.uint8), [5, 4])
    return [*out, kept.dtype.name, v1.image.resize(x.astype(np.uint8), [3, 3], 1).dtype.name]


@program
def images_resized_in_graphs():
    with session() as sess:
        x = v1.placeholder(tf.float32, [None, None, None, 1])
        size = v1.placeholder(tf.int32, [2])
        y = v1.image.resize(x, [3, 5], align_corners=True)
        z = v1.image.resize_nearest_neighbor(x, size)
        given = {x: np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1), size: [2, 3]}
        (gradient,) = tf.gradients(y, x)
        return [y.shape.as_list(), *(v.ravel() for v in sess.run([y, z, gradient], given))]


@program
def one_shot_iterators():
    out = []
    with tf.Graph().as_default() as graph:
        pairs = tf.data.Dataset.range(3).map(lambda x: (x, x * x))
        a, b = v1.data.make_one_shot_iterator(pairs).get_next()
        for _ in range(2):  # each session goes through all of them
            with v1.Session(graph=graph) as sess:
                out += [sess.run([a, b]) for _ in range(3)]
                out.append(error_of(sess.run, a))
        p = v1.placeholder(tf.int64, [None])
        fed = tf.data.Dataset.from_tensor_slices(p)
        out.append(error_of(v1.data.make_one_shot_iterator, fed))
        out.append(error_of(lambda: v1.data.make_one_shot_iterator(pairs).initializer))
    return [*out, [int(x) for x in v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))],
            error_of(v1.data.make_initializable_iterator, pairs)]  # fmt: skip


@program
def initializable_iterators():
    with session() as sess:
        p = v1.placeholder(tf.int64, [None])
        dataset = v1.data.Dataset.from_tensor_slices(p).map(lambda x: x + 1).batch(2)
        iterator = dataset.make_initializable_iterator()
        element = iterator.get_next()
        out = [error_of(sess.run, element)]
        sess.run(iterator.initializer, {p: [1, 2, 3]})
        out += [sess.run(element), sess.run(element), error_of(sess.run, element)]
        sess.run(iterator.initializer, {p: [7]})
        out += [sess.run(element), element.shape.as_list(), dataset.output_types.name]
        return [*out, dataset.output_shapes.as_list(), dataset.output_classes.__name__]


@program
def iterators_that_are_shared():
    with session() as sess:
        low, high = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
        kind = (v1.data.get_output_types(low), v1.data.get_output_shapes(low))
        either = v1.data.Iterator.from_structure(*kind)
        element = either.get_next()
        of_low, of_high = either.make_initializer(low), either.make_initializer(high)
        out = []
        for start in (of_low, of_high, of_low):
            sess.run(start)
            out += [sess.run(element), sess.run(element)]
        first = v1.data.make_one_shot_iterator(low)
        second = v1.data.make_initializable_iterator(high)
        handle = v1.placeholder(tf.string, [])
        fed = v1.data.Iterator.from_string_handle(handle, *kind).get_next()
        a, b = sess.run([first.string_handle(), second.string_handle()])
        sess.run(second.initializer)
        out += [sess.run(fed, {handle: h}) for h in (a, b, a, b)]
        words = tf.data.Dataset.from_tensors("a")
        return [*out, error_of(either.make_initializer, words)]


@program
def namespaces_of_tensorflow_1():
    with session():
        seeds = [v1.random.get_seed(None), v1.random.get_seed(3)]
        v1.random.set_random_seed(5)
        seeds += [v1.random.get_seed(4), v1.random.get_seed(0), v1.get_default_graph().seed]
    logging = v1.logging
    levels = [logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL]
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    levels.append(logging.get_verbosity())
    logging.set_verbosity(before)
    raw = v1.io.decode_raw(bytes=tf.constant(b"\x01\x02"), out_type=tf.uint8)
    shapes = [v1.random.poisson([1.0, 2.0], [3]).shape.as_list(),
              v1.random_poisson([1.0, 2.0], [3]).shape.as_list(),
              v1.random.multinomial([[0.0, 0.0]], 4).shape.as_list(),
              v1.random.stateless_multinomial([[0.0, 0.0]], 4, [1, 2]).shape.as_list()]  # fmt: skip
    return [seeds, levels, raw, shapes, hasattr(v1.random, "set_seed"),
            hasattr(v1.data, "IteratorSpec"), hasattr(v1.image, "resize_with_pad")]  # fmt: skip


@program
def files_under_old_names():
    with tempfile.TemporaryDirectory() as folder:
        gfile, inside = v1.gfile, os.path.join(folder, "a")
        gfile.MakeDirs(inside + "/b")
        with gfile.GFile(inside + "/f", "w") as file:
            file.write("text")
        gfile.Copy(inside + "/f", inside + "/g")
        out = [gfile.Exists(inside + "/g"), sorted(gfile.ListDirectory(inside))]
        out += [gfile.IsDirectory(inside), len(gfile.Glob(inside + "/*"))]
        out += [gfile.Open(inside + "/g").read(), gfile.Stat(inside + "/g").length]
        out.append(error_of(gfile.Copy, inside + "/f", inside + "/g"))
        gfile.Rename(inside + "/g", inside + "/h")
        gfile.Remove(inside + "/h")
        out.append([[d, sorted(f)] for _, d, f in gfile.Walk(inside)])
        gfile.DeleteRecursively(inside)
        with v1.python_io.TFRecordWriter(folder + "/records") as writer:
            writer.write(b"one")
            writer.write(b"two")
        out.append(list(v1.python_io.tf_record_iterator(folder + "/records")))
        return [*out, list(v1.io.tf_record_iterator(folder + "/records")), gfile.Exists(inside)]


@program
def jacobians_against_differences():
    with session():
        x = tf.constant([1.0, 2.0])
        y = x * x * x[::-1]
        given = np.array([1.0, 2.0], np.float32)
        computed, by_differences = v1.test.compute_gradient(x, [2], y, [2], x_init_value=given)
        error = v1.test.compute_gradient_error([x], [[2]], y, [2], x_init_value=[given])
        return [computed, by_differences.round(2), bool(error < 1e-2),
                os.path.isdir(v1.test.get_temp_dir())]  # fmt: skip


# --- operations by their definitions --------------------------------------------------------------


def _plain_result(made):
    return list(made) if isinstance(made, (list, tuple)) else made


@program
def raw_ops_by_their_definitions():
    raw, x = tf.raw_ops, np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    calls = [
        raw.AddV2(x=1.0, y=2.0), raw.Sum(input=x, axis=[0]),
        raw.Max(input=x, axis=1, keep_dims=True),
        raw.Pack(values=[1, 2, 3], axis=0), raw.Unpack(value=x, num=2, axis=1),
        raw.Split(axis=1, value=x, num_split=2), raw.SplitV(
            value=x, size_splits=[1, 1], axis=0, num_split=2),
        raw.TopKV2(input=x, k=1), raw.Unique(x=[1, 1, 2]), raw.UniqueWithCounts(x=[1, 1, 2]),
        raw.MatMul(a=x, b=x, transpose_b=True), raw.Cast(x=x, DstT=tf.int32),
        raw.Relu(features=[-1.0, 1.0]), raw.ConcatV2(values=[x, x], axis=0),
        raw.StridedSlice(input=x, begin=[0], end=[1], strides=[1], shrink_axis_mask=1),
        raw.Transpose(x=x, perm=[1, 0]), raw.GatherV2(params=x, indices=[1], axis=0),
        raw.Softmax(logits=x), raw.Shape(input=x), raw.Range(start=0, limit=3, delta=1),
        raw.FusedBatchNormV3(x=image, scale=[1.0, 2.0], offset=[0.0, 1.0], mean=[], variance=[])[0],
        raw.ArgMax(input=x, dimension=1), raw.OneHot(
            indices=[0, 1], depth=2, on_value=1.0, off_value=0.0),
        raw.IdentityN(input=[1.0, 2]), raw.SegmentSum(data=[1.0, 2.0], segment_ids=[0, 0]),
        raw.Fill(dims=[2], value=3.0), raw.SelectV2(condition=[True, False], t=[1, 2], e=[3, 4]),
        raw.AsString(input=[1]), raw.StringJoin(inputs=["a", "b"], separator="-"),
        raw.Reshape(tensor=x, shape=[4]), raw.Squeeze(input=np.ones([1, 2])),
        raw.Tile(input=[1], multiples=[2]), raw.LogMatrixDeterminant(input=x),
        raw.SelfAdjointEigV2(input=x + x.T, compute_v=False)[0],
        raw.SoftmaxCrossEntropyWithLogits(features=x, labels=x),
        raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=[1, 0]),
        raw.Conv2D(input=image, filter=np.ones([1, 1, 2, 1]), strides=[1, 1, 1, 1],
                   padding="SAME"),
        raw.MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"),
        raw.ExpandDims(input=[1], axis=0), raw.Where(condition=[True, False]),
        raw.LeakyRelu(features=[-1.0]), raw.Cumsum(x=[1, 2, 3], axis=0, exclusive=True),
    ]  # fmt: skip
    errors = [
        error_of(lambda: raw.AddV2(1.0, 2.0)),
        error_of(lambda: raw.AddV2(x=tf.constant(1), y=tf.constant(2.0))),
        error_of(lambda: raw.AddV2(x=1, z=2)),
        error_of(lambda: raw.NoSuchOperation()),
    ]
    traced = tf.function(lambda a: raw.Mul(x=a, y=raw.AddV2(x=a, y=1.0)))(tf.constant(3.0))
    names = [type(made).__name__ for made in calls if isinstance(made, tuple)]
    return [[_plain_result(made) for made in calls], errors, traced, names]


@program
def signatures_of_raw_ops():
    names = (
        "AddV2 All ArgMax AvgPool BiasAdd Cast ConcatV2 Conv2D Cumsum ExpandDims FusedBatchNormV3 "
        "GatherV2 LeakyRelu MatMul MaxPool Mean OneHot Pack RandomUniform Range Reshape Select "
        "Slice Split SplitV Squeeze StridedSlice StringJoin Sum TopKV2 Transpose Unique Unpack "
        "Where"
    )
    return {
        name: [
            [p.name, p.kind.name, None if p.default is p.empty else str(p.default)]
            for p in inspect.signature(getattr(tf.raw_ops, name)).parameters.values()
            if p.name != "exponential_avg_factor"  # written 1 there, read as 1.0 here
        ]
        for name in names.split()
    }


@program
def operations_made_by_type():
    with session() as sess:
        graph, attr = sess.graph, v1.AttrValue
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        made = graph.create_op(
            "AddV2", [x, y], [tf.float32], name="mine", attrs={"T": attr(type=1)}
        )
        packed = graph.create_op("Pack", [x, y], attrs={"T": attr(type=1), "N": attr(i=2)})
        out = [made.name, made.type, sess.run(made.outputs[0], {x: 3.0})]
        out += [sess.run(packed.outputs[0], {x: 3.0}), packed.outputs[0].shape.as_list()]
        out += [graph.create_op("Neg", [x], attrs={"T": attr(type=1)}).name]
        return [*out, error_of(graph.create_op, "NoSuchOperation", [x]),
                graph.op_def_for_type("AddV2").name]  # fmt: skip


@program
def one_object_for_each_tensor_and_operation():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        return [graph.get_tensor_by_name("x:0") is x, graph.get_tensor_by_name("y:0") is y,
                y.op.outputs[0] is y, graph.get_operation_by_name("y") is y.op, y.op is y.op,
                graph.as_graph_element("y:0") is y, y.op.inputs[0] is x]  # fmt: skip


@program
def tensors_of_two_graphs():
    with tf.Graph().as_default():
        a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(2.0)

        def after_a():
            with tf.control_dependencies([a]):
                pass

        return [error_of(lambda: a + b), error_of(tf.add, b, a), error_of(tf.stack, [a, b]),
                error_of(after_a)]  # fmt: skip


@program
def what_graphs_allow():
    with session() as sess:
        graph = sess.graph
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        z = y + 1.0
        with graph.colocate_with(y.op), graph.container("kept"):
            same = tf.identity(x)
        out = [sess.run(same, {x: 1.0}), sess.run(z, {y: 1.0})]
        out += [graph.is_feedable(y), graph.is_fetchable(y.op)]
        graph.prevent_feeding(y)
        graph.prevent_fetching(y.op)
        out += [graph.is_feedable(y), graph.is_fetchable(y.op), graph.is_feedable(x)]
        out += [error_of(sess.run, z, {y: 1.0}), sess.run(z, {x: 1.0})]
        out += [graph.num_operations() == len(graph.get_operations()), graph.get_name_scope()]
        return [*out, error_of(sess.run, y.op, {x: 1.0}), graph.graph_def_versions.producer > 0]


@contextlib.contextmanager
def as_tensorflow():
    """As for programs that import tensorflow: they may not mix dtypes."""
    switch = getattr(tf.experimental, "set_dtype_promotion", lambda on: on)
    before = switch(False)
    try:
        yield
    finally:
        switch(before)


@program
def mixed_dtypes():
    one, two, half = tf.constant(1), tf.constant(1.5), tf.constant(1.0, tf.float16)
    mixes = {
        "add": lambda: tf.add(one, two), "+": lambda: one + two, "py": lambda: one + 1.5,
        "*": lambda: half * two, "-": lambda: tf.constant(1, tf.int64) - one,
        "equal": lambda: tf.equal(one, two), "pow": lambda: tf.pow(two, one),
        "maximum": lambda: tf.maximum(two, one), "variable": lambda: tf.Variable(1.0) + one,
        "fine": lambda: two + 1, "numpy": lambda: two + np.float32(1), "python": lambda: half * 2.5,
    }  # fmt: skip

    def in_graph():
        with tf.Graph().as_default():
            tf.add(tf.constant(1), tf.constant(1.5))

    with as_tensorflow():
        out = {name: error_of(mix) for name, mix in mixes.items()}
        out["function"] = error_of(tf.function(lambda a, b: a + b), one, two)
        out["graph"] = error_of(in_graph)
    return out
