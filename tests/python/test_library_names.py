"""Names that libraries close to TensorFlow use: tracking, scratch graphs, profiles, bytes."""

import json

import numpy as np
import pytest

import tidemark as tf

internal = tf.__internal__


def test_attributes_are_tracked():
    class Holder(internal.tracking.AutoTrackable):
        @internal.tracking.no_automatic_dependency_tracking
        def hide(self, value):
            self.hidden = value

    holder = Holder()
    holder.variable, holder.number, holder.inner = tf.Variable(1.0), 3, Holder()
    holder.hide(tf.Variable(2.0))
    assert list(holder._trackable_children()) == ["variable", "inner"]
    holder.variable = 4
    del holder.inner
    assert holder._trackable_children() == {}
    with pytest.raises(TypeError, match="type Trackable"):
        holder._track_trackable(3, "three")
    with pytest.raises(ValueError, match="already declared"):
        holder._track_trackable(Holder(), "x")
        holder._track_trackable(Holder(), "x")


def test_what_can_be_reached():
    class Holder(internal.tracking.AutoTrackable):
        pass

    root = Holder()
    root.left, root.variable = Holder(), tf.Variable(1.0)
    root.left.variable, root.left.root = root.variable, root
    view = tf.train.TrackableView(root)
    assert list(view.children(root)) == ["left", "variable"]
    found = view.descendants()
    assert [id(x) for x in found] == [id(root), id(root.left), id(root.variable)]


def test_a_scratch_graph_tells_shapes():
    assert not tf.inside_function()
    with internal.FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        assert tf.inside_function()
        y = tf.nn.relu(x @ tf.ones([3, 2]))
        assert y.shape.as_list() == [None, 2] and y.dtype == tf.float32
        sparse = tf.compat.v1.sparse_placeholder(tf.float32, [None, 4])
        assert sparse.shape.as_list() == [None, 4]
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        tf.compat.v1.placeholder(tf.float32, [1])


def test_other_classes_may_count_as_tensors():
    class Mine(internal.types.Tensor):
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([1.0, 2.0])

    assert tf.is_tensor(Mine()) and not isinstance(Mine(), tf.Tensor)
    assert isinstance(tf.ones([1]), internal.types.Tensor)
    np.testing.assert_array_equal(tf.square(Mine()), [1.0, 4.0])


def test_smart_cond_decides_at_once():
    smart_cond = internal.smart_cond.smart_cond
    assert smart_cond(True, lambda: 1, lambda: 1 / 0) == 1
    assert smart_cond(tf.constant(False), lambda: 1 / 0, lambda: 2) == 2
    with pytest.raises(TypeError, match="must be callable"):
        smart_cond(True, 1, 2)


def test_decorated_functions_are_unwrapped():
    def inner():
        return 1

    outer = internal.decorator.make_decorator(inner, lambda: inner() + 1)
    wrappers, found = internal.decorator.unwrap(outer)
    assert [wrapper.decorated_target for wrapper in wrappers] == [inner]
    assert found is inner and outer() == 2


def test_optionals_pass_through_functions():
    full = tf.experimental.Optional.from_value({"a": tf.constant([1.0, 2.0])})
    empty = tf.experimental.Optional.empty(full.element_spec)
    assert bool(full.has_value()) and not bool(empty.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        empty.get_value()
    again = tf.nest.map_structure(lambda x: x, full, expand_composites=True)
    np.testing.assert_array_equal(again.get_value()["a"], [1.0, 2.0])
    assert tf.OptionalSpec.from_value(full) == tf.OptionalSpec(full.element_spec)
    assert not bool(tf.nest.map_structure(lambda x: x, empty, expand_composites=True).has_value())


def test_a_profile_is_written(tmp_path):
    profiler = tf.profiler.experimental
    with profiler.Profile(tmp_path):
        with profiler.Trace("step", step_num=3) as trace:
            trace.set_metadata(kind="train")
        with pytest.raises(tf.errors.AlreadyExistsError):
            profiler.start(tmp_path)
    (path,) = tmp_path.glob("plugins/profile/*/trace.json")
    (event,) = json.loads(path.read_text())["traceEvents"]
    assert event["name"] == "step" and event["args"] == {"step_num": "3", "kind": "train"}
    with pytest.raises(tf.errors.UnavailableError):
        profiler.stop()
    with profiler.Trace("nobody listens"):
        pass


def test_text_and_bytes():
    compat = tf.compat
    assert compat.as_bytes("é") == b"\xc3\xa9" and compat.as_bytes(bytearray(b"x")) == b"x"
    assert compat.as_text(b"\xc3\xa9") == "é" and compat.as_str_any(3) == "3"
    assert compat.dimension_value(tf.compat.v1.Dimension(3)) == 3
    assert compat.v2 is tf
    with pytest.raises(TypeError, match="binary or unicode"):
        compat.as_text(3)
    with pytest.raises(LookupError):
        compat.as_bytes("x", "no such encoding")


def test_first_versions_of_functions():
    v1 = tf.compat.v1
    variable = tf.Variable(1.0)
    v1.assign_add(variable, 2.0)
    assert float(variable) == 3.0
    rows = v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert rows.numpy().tolist() == [[1, 2], [7, 8]]
    pooled = v1.nn.max_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID")
    assert pooled.numpy().ravel().tolist() == [3.0]
    counted = v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    assert int(counted) == 3
    assert v1.random_uniform_initializer(2.0, 3.0)([4]).numpy().min() >= 2.0
    with pytest.raises(RuntimeError, match="GradientTape"):
        v1.gradients(1.0, 1.0)


def test_rounding_has_gradients():
    x = tf.constant([-9.0, 0.25, 9.0])
    low, high = tf.Variable(-1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.quantization.fake_quant_with_min_max_vars(x, low, high)
        loss = tf.reduce_sum(y * [1.0, 2.0, 3.0])
    found = tape.gradient(loss, [x, low, high])
    np.testing.assert_array_equal(found[0], [0.0, 2.0, 0.0])
    assert float(found[1]) == 1.0 and float(found[2]) == 3.0


def test_dtypes_of_numpy_and_choices():
    numpy = tf.experimental.numpy
    assert numpy.finfo(tf.float32).eps == np.finfo(np.float32).eps
    assert numpy.iinfo("int8").max == 127
    chosen = numpy.select([[True, False, False], [True, True, False]], [[1, 1, 1], [2, 2, 2]], 9)
    np.testing.assert_array_equal(chosen, [1, 2, 9])
    for name in dir(numpy):
        assert getattr(numpy, name, None) is not None or name == "newaxis", name


def test_a_block_is_replaced_where_it_fits():
    from tidemark._tensorflow.xla import dynamic_update_slice

    x = dynamic_update_slice(tf.zeros([2, 3]), tf.ones([1, 2]), [1, 5])
    np.testing.assert_array_equal(x, [[0, 0, 0], [0, 1, 1]])


@pytest.mark.parametrize("mode", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
def test_projective_maps(mode):
    image = np.arange(12.0, dtype=np.float32).reshape(1, 3, 4, 1)
    shift = [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]  # one pixel to the left
    moved = tf.raw_ops.ImageProjectiveTransformV3(
        images=image, transforms=shift, output_shape=[3, 4], fill_value=-1.0,
        interpolation="BILINEAR", fill_mode=mode,
    )  # fmt: skip
    last = {"CONSTANT": -1.0, "NEAREST": 3.0, "REFLECT": 3.0, "WRAP": 0.0}[mode]
    row = moved.numpy()[0, 0, :, 0]
    np.testing.assert_allclose(row[:3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(row[3], last)


def test_unique_rows():
    x = tf.constant([[1, 2], [3, 4], [1, 2]])
    y, index, count = tf.raw_ops.UniqueWithCountsV2(x=x, axis=[0])
    np.testing.assert_array_equal(y, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(index, [0, 1, 0])
    np.testing.assert_array_equal(count, [2, 1])
    buckets = tf.raw_ops.Bucketize(input=[[0.0, 5.0], [10.0, 11.0]], boundaries=[5.0, 10.0])
    np.testing.assert_array_equal(buckets, [[0, 1], [2, 2]])


def test_operations_are_of_one_class_in_every_graph():
    seen = {}

    @tf.function
    def traced(x):
        y = tf.reduce_sum(x * 2.0, axis=0)
        seen.update(op=y.op, graph=y.graph, inputs=[t.op.type for t in y.op.inputs])
        assert y.op == y.op and y.op != y.op.inputs[0].op and y.op.graph is y.graph
        assert y.op.get_attr("T") == tf.float32
        return y

    traced.get_concrete_function(tf.TensorSpec([2, 3], tf.float32))
    assert seen["op"].type == "Sum" and seen["inputs"] == ["Mul"]
    assert isinstance(seen["graph"], tf.__internal__.FuncGraph)

    graph = tf.compat.v1.Graph()
    with graph.as_default():
        y = tf.compat.v1.placeholder(tf.float32, [2]) * 2.0
        assert type(y.op) is type(seen["op"]) is tf.compat.v1.Operation
        assert y.op.graph is graph

    with tf.__internal__.FuncGraph("scratch").as_default() as scratch:
        assert tf.compat.v1.placeholder(tf.float32, [2]).graph is scratch
