"""More of them: graphs written beside their values, and read again."""

import os
import tempfile

import numpy as np
from session_programs import error_of, program, session, tf, v1


def _line():
    """A graph of a line that is learned; it has something in collections of every kind."""
    slope = v1.get_variable("slope", initializer=2.0)
    ends = v1.get_variable("ends", initializer=[1.0, 1.0], trainable=False)
    x = v1.placeholder(tf.float32, [], name="x")
    y = tf.add(tf.multiply(x, slope), tf.reduce_sum(ends), name="y")
    train = v1.train.GradientDescentOptimizer(0.1).minimize(y, name="train")
    for name, item in (("outputs", y), ("texts", "abc"), ("numbers", 3), ("floats", 2.5),
                       ("kept", slope), ("steps", train)):  # fmt: skip
        v1.add_to_collection(name, item)
    return x, y, train


def _collections():
    names = ("variables", "trainable_variables", "outputs", "kept", "steps")
    named = [[item.name for item in v1.get_collection(name)] for name in names]
    return [*named, *(v1.get_collection(name) for name in ("texts", "numbers", "floats"))]


@program
def graphs_read_from_files():
    path, out = os.path.join(tempfile.mkdtemp(), "model"), []
    with tf.Graph().as_default(), session() as sess:
        x, y, train = _line()
        sess.run(v1.global_variables_initializer())
        sess.run(train, {x: 1.0})
        v1.train.Saver().save(sess, path)
        out.append([sess.run(y, {x: 3.0}), os.path.exists(path + ".meta")])
        v1.train.Saver().save(sess, path + "2", write_meta_graph=False)
        out.append(os.path.exists(path + "2.meta"))
    with tf.Graph().as_default(), session() as sess:
        saver = v1.train.import_meta_graph(path + ".meta")
        out.append(_collections())
        saver.restore(sess, path)
        out.append(sess.run("y:0", {"x:0": 3.0}))
        sess.run("train", {"x:0": 1.0})
        out.append(sess.run(["y:0", v1.global_variables()[0]], {"x:0": 3.0}))
        again = saver.save(sess, path + "3")
    with tf.Graph().as_default(), session() as sess:
        v1.train.import_meta_graph(again + ".meta").restore(sess, again)
        out.append(sess.run("y:0", {"x:0": 3.0}))
    return out


@program
def graphs_read_into_a_scope():
    path, out = os.path.join(tempfile.mkdtemp(), "model"), []
    with tf.Graph().as_default(), session() as sess:
        _line()
        sess.run(v1.global_variables_initializer())
        v1.train.Saver().save(sess, path)
    with tf.Graph().as_default(), session() as sess:
        v1.get_variable("other", initializer=5.0)
        saver = v1.train.import_meta_graph(path + ".meta", import_scope="inner")
        sess.run(v1.global_variables_initializer())
        sess.run("inner/train", {"inner/x:0": 10.0})
        out.append(sess.run("inner/y:0", {"inner/x:0": 3.0}))
        saver.restore(sess, path)
        out.append(sess.run(["inner/y:0", v1.global_variables()[0]], {"inner/x:0": 3.0}))
        out.append([variable.name for variable in v1.global_variables()])
    return out


@program
def graphs_as_messages():
    path, out = os.path.join(tempfile.mkdtemp(), "graph"), []
    with tf.Graph().as_default():
        _line()
        message = v1.train.export_meta_graph(path, as_text=True)
        out.append(sorted(message.collection_def))
        out.append([message.collection_def[n].WhichOneof("kind") for n in ("variables", "numbers")])
        out.append([node.op for node in message.graph_def.node if node.name in ("x", "slope")])
        only = v1.train.export_meta_graph(collection_list=["texts"])
        out.append(sorted(only.collection_def))
    with tf.Graph().as_default(), session() as sess:
        v1.train.import_meta_graph(message)
        sess.run(v1.global_variables_initializer())
        out.append(sess.run("y:0", {"x:0": 3.0}))
    with tf.Graph().as_default():
        out.append(v1.train.import_meta_graph(path) is not None)
        out.append(error_of(v1.train.import_meta_graph, path + "-missing"))
    with tf.Graph().as_default():
        tf.constant(1.0, name="one")
        plain = v1.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        out.append([v1.train.import_meta_graph(plain), graph.get_operations()[0].name])
    out.append(error_of(v1.train.import_meta_graph, path))
    return [*out, error_of(v1.train.export_meta_graph)]


@program
def savers_of_nothing_and_of_eager_variables():
    folder, out = tempfile.mkdtemp(), []
    with tf.Graph().as_default(), session() as sess:
        empty = v1.train.Saver(allow_empty=True)
        out.append(error_of(v1.train.Saver))
        variable = v1.get_variable("v", initializer=np.float32(1))
        out.append(error_of(v1.train.Saver, [variable], defer_build=True))
        deferred = v1.train.Saver(defer_build=True, max_to_keep=0)
        sess.run(v1.global_variables_initializer())
        out.append(error_of(deferred.save, sess, os.path.join(folder, "a")))
        deferred.build()
        deferred.save(sess, os.path.join(folder, "b"))
        out.append([deferred.last_checkpoints, deferred.as_saver_def().max_to_keep])
        out.append(os.path.exists(os.path.join(folder, "b.index")))
        deferred.save(sess, "file://" + os.path.join(folder, "c"))
        out.append(os.path.exists(os.path.join(folder, "c.index")))
        out.append(empty is not None)
    variable = tf.Variable(3.0, name="v")
    saver = v1.train.Saver({"v": variable})
    saver.save(None, os.path.join(folder, "eager"))
    variable.assign(4.0)
    saver.restore(None, os.path.join(folder, "eager"))
    out.append(float(variable))
    saver.restore(None, os.path.join(folder, "b"))
    return [*out, float(variable)]


@program
def what_folders_say_of_checkpoints():
    folder, out = tempfile.mkdtemp(), []
    made = v1.train.generate_checkpoint_state_proto
    for where, path in ((folder, os.path.join(folder, "model-0")), ("train", "train/model-0")):
        state = made(where, path, all_model_checkpoint_paths=[path + "1", path])
        paths = [state.model_checkpoint_path, *state.all_model_checkpoint_paths]
        out.append([one.replace(folder, "folder") for one in paths])
    out.append(error_of(made, folder, "a", ["a"], [1.0, 2.0]))
    path = os.path.join(folder, "model")
    with tf.Graph().as_default(), session() as sess:
        v1.get_variable("v", initializer=[[1.0, 2.0]])
        sess.run(v1.global_variables_initializer())
        v1.train.Saver().save(sess, path)
    out.append(v1.train.NewCheckpointReader(path).debug_string())
    out.append(len(v1.train.get_checkpoint_mtimes([path, path + "-missing"])))
    v1.train.remove_checkpoint(path)
    return [*out, os.listdir(folder), tf.train.latest_checkpoint(folder)]


@program
def checkpoints_of_a_graphs_variables():
    folder, out = tempfile.mkdtemp(), []
    with tf.Graph().as_default(), session() as sess:
        first = v1.get_variable("first", initializer=1.0)
        second = v1.get_variable("second", initializer=[2, 3])
        sess.run(v1.global_variables_initializer())
        checkpoint = tf.train.Checkpoint(a=first, rest=[second])
        path = checkpoint.save(os.path.join(folder, "model"))
        sess.run([first.assign(7.0), second.assign([8, 9])])
        out.append([os.path.basename(path), sess.run(checkpoint.save_counter)])
        out.append(os.path.basename(checkpoint.save(os.path.join(folder, "model"))))
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        out.append(sess.run([first, second, checkpoint.save_counter]))
    with tf.Graph().as_default():
        other = v1.get_variable("other", initializer=0.0)
        more = v1.get_variable("more", initializer=5.0)
        status = tf.train.Checkpoint(a=other, more=more).restore(path)
        with v1.Session() as sess:
            status.initialize_or_restore(sess)
            out.append(sess.run([other, more]))
    eager = tf.Variable(0.0)
    tf.train.Checkpoint(a=eager).restore(path).expect_partial()
    return [*out, float(eager), sorted(name for name, _ in tf.train.list_variables(path))]


@program
def managers_of_a_graphs_checkpoints():
    folder, out = tempfile.mkdtemp(), []
    with tf.Graph().as_default(), session() as sess:
        variable = v1.get_variable("v", initializer=1.0)
        step = v1.get_variable("step", initializer=0)
        sess.run(v1.global_variables_initializer())
        checkpoint = tf.train.Checkpoint(v=variable, step=step)
        manager = tf.train.CheckpointManager(
            checkpoint, folder, max_to_keep=2, step_counter=step, checkpoint_interval=2
        )
        for _ in range(6):
            path = manager.save(check_interval=True)
            out.append(path and os.path.basename(path))
            sess.run(step.assign_add(1))
        out.append([os.path.basename(path) for path in manager.checkpoints])
    return out


@program
def steps_counted_at_once():
    train = v1.train
    before = train.get_global_step()
    step = train.get_or_create_global_step()
    counted = step.assign_add(1).numpy()
    with tf.Graph().as_default():
        other = train.get_or_create_global_step()
        apart = [other is step, other is train.get_global_step()]
    same = [step is train.get_or_create_global_step(), step is train.get_global_step()]
    v1.reset_default_graph()
    return [before, counted, apart, same, step.trainable, step.dtype.name]


@program
def updates_at_once_are_variables_without_an_operation():
    v = tf.Variable([1.0, 2.0, 3.0])
    changed = v1.scatter_update(v, [0], [9.0])
    out = [changed.op, changed + 1.0, changed.numpy(), isinstance(changed, tf.Variable)]
    out += [changed.shape.as_list(), changed.dtype.name, tf.reduce_sum(changed), changed[0]]
    out.append(v1.scatter_nd_add(v, [[1]], [1.0]).numpy())
    v.assign([0.0, 0.0, 0.0])
    return [*out, changed.numpy()]


@program
def small_functions_of_tensorflow_1():
    shape = v1.TensorShape([v1.Dimension(100), v1.Dimension(4)])
    parts = [v1.fixed_size_partitioner(3, 1)(shape, dtype=tf.float32),
             v1.variable_axis_size_partitioner(64)(shape, tf.float32),
             v1.variable_axis_size_partitioner(64, max_shards=7)(shape, tf.float32),
             v1.min_max_variable_partitioner(5, min_slice_size=100)(shape, tf.float32)]  # fmt: skip
    out = [parts, v1.clip_by_average_norm([3.0, 4.0], 0.5)]
    with session() as sess:
        count = v1.Variable(0)
        up = v1.count_up_to(count, 2)
        x = v1.placeholder(tf.float32, [])
        y = tf.math.log(x)
        checks = v1.add_check_numerics_ops()
        sess.run(v1.global_variables_initializer())
        out += [sess.run(up), sess.run(up), sess.run(count), error_of(sess.run, up)]
        return [*out, sess.run(y, {x: 1.0}), error_of(sess.run, checks, {x: -1.0})]


@program
def queues_at_once():
    queue = tf.queue.FIFOQueue(3, [tf.float32, tf.int32], [[], [2]])
    queue.enqueue([1.0, [1, 2]])
    queue.enqueue_many([[2.0, 3.0], [[3, 4], [5, 6]]])
    out = [queue.dequeue(), queue.size(), queue.dequeue_many(2)]
    queue.close()
    out += [queue.is_closed(), error_of(queue.dequeue)]
    padding = tf.queue.PaddingFIFOQueue(4, [tf.int32], [[None]])
    padding.enqueue([[1]])
    padding.enqueue([[1, 2, 3]])
    first = tf.queue.PriorityQueue(4, [tf.string], [[]])
    first.enqueue([np.int64(5), "b"])
    first.enqueue([np.int64(1), "a"])
    return [*out, padding.dequeue_many(2), first.dequeue()]


@program
def datasets_of_graphs_in_files():
    """The graph is gone when the file is read: it tells what the iterator goes over."""

    def numbers():
        five = tf.constant(5, tf.int64)
        squares = tf.data.Dataset.range(8).map(lambda x: x * x + five, num_parallel_calls=2)
        rows = tf.data.Dataset.from_tensor_slices(np.arange(8.0)).skip(1).repeat(2)
        pairs = tf.data.Dataset.zip((squares, {"row": rows})).filter(
            lambda x, _: tf.equal(x % 2, 0)
        )
        return pairs.batch(2).padded_batch(1, ([3], {"row": [3]})).prefetch(1)

    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with session() as sess:
            iterator = v1.data.make_initializable_iterator(numbers())
            element = iterator.get_next()
            for item in (iterator.initializer, element[0], element[1]["row"]):
                v1.add_to_collection("ops", item)
            v1.add_to_collection("more", v1.data.make_one_shot_iterator(
                tf.data.Dataset.from_tensors([1, 2]).take(1)).get_next())  # fmt: skip
            v1.get_variable("v", initializer=1.0)
            sess.run([v1.global_variables_initializer(), iterator.initializer])
            out.append(sess.run(element[0]))
            v1.train.Saver().save(sess, path)
        with session() as sess:
            v1.train.import_meta_graph(path + ".meta").restore(sess, path)
            start, *element = v1.get_collection("ops")
            sess.run(start)
            for _ in range(2):
                out += sess.run(element)
            out += [error_of(sess.run, element), sess.run(v1.get_collection("more"))]
    return out
