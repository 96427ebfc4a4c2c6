"""Programs about variables in parts, and about what holds variables of graphs."""

import os
import tempfile

from session_programs import program, tf

v1 = tf.compat.v1
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]


def _cut(count, initializer, axis=0):
    if count is None:
        return v1.get_variable("table", initializer=initializer)
    partitioner = v1.fixed_size_partitioner(count, axis)
    return v1.get_variable("table", [5, 2], initializer=initializer, partitioner=partitioner)


def _whole(variable):
    return variable.as_tensor() if hasattr(variable, "as_tensor") else variable


@program
def variables_in_parts():
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("scope"):
            table = _cut(3, tf.constant(ROWS))
        session.run(v1.global_variables_initializer())
        found = v1.nn.embedding_lookup(table, [0, 4, 2], partition_strategy="mod")
        names = [v.name for v in v1.global_variables()]
        shapes = [part.shape.as_list() for part in table]
        return [table.name, table.shape.as_list(), names, shapes, table.as_tensor().name,
                session.run(table.as_tensor()), session.run(tf.convert_to_tensor(table) * 2.0),
                session.run([tf.shape(row)[0] for row in [found]])]  # fmt: skip


@program
def parts_that_are_shared():
    with tf.Graph().as_default():
        with v1.variable_scope("scope", partitioner=v1.fixed_size_partitioner(2)):
            first = v1.get_variable("v", [4])
            scalar = v1.get_variable("s", [])
        with v1.variable_scope("scope", reuse=True):
            again = v1.get_variable("v")
        out = [first is again, scalar.name, len(list(first))]
        with v1.variable_scope("scope", reuse=True, partitioner=v1.fixed_size_partitioner(3)):
            try:
                v1.get_variable("v", [4])
            except ValueError:
                out.append("refused")
        return out


@program
def parts_saved_and_cut_in_another_way():
    out = []
    for before, after in ((3, None), (None, 2), (3, 5)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved")
            with tf.Graph().as_default(), v1.Session() as session:
                _cut(before, tf.constant(ROWS))
                session.run(v1.global_variables_initializer())
                v1.train.Saver().save(session, path)
            with tf.Graph().as_default(), v1.Session() as session:
                table = _cut(after, tf.zeros([5, 2]))
                v1.train.Saver().restore(session, path)
                out.append(session.run(_whole(table)))
    return out


@program
def holders_of_variables_of_graphs():
    out = []
    for use_resource in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "at")
            with tf.Graph().as_default(), v1.Session() as session:
                root = tf.__internal__.tracking.AutoTrackable()
                root.v = v1.Variable(5, use_resource=use_resource)
                session.run(root.v.initializer)
                checkpoint = tf.train.Checkpoint(root)
                checkpoint.write(path)
                session.run(root.v.assign(10))
                checkpoint.read(path).assert_consumed().run_restore_ops()
                out.append(session.run(root.v))
    return out


@program
def functions_that_name_devices():
    with tf.Graph().as_default(), v1.Session() as session, v1.device(lambda op: "/device:CPU:0"):
        return session.run(tf.constant(2) * 3)
