"""More programs about sessions: what TensorFlow's own tests go by."""

import os
import tempfile

from session_programs import error_of, program, session, tf, v1


@program
def iterators_that_are_saved():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        with tf.Graph().as_default():
            dataset = tf.data.Dataset.range(10).map(lambda x: x * x)
            iterator = v1.data.make_initializable_iterator(dataset)
            saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
            v1.add_to_collection("saveable_objects", saveable)
            following = iterator.get_next()
            saver = v1.train.Saver()
            with v1.Session() as session:
                session.run(iterator.initializer)
                out += [session.run(following) for _ in range(3)]
                saver.save(session, path)
            with v1.Session() as session:
                session.run(iterator.initializer)
                saver.restore(session, path)
                out += [session.run(following) for _ in range(2)]
    return out


@program
def constants_that_fill_their_shape():
    with tf.Graph().as_default(), v1.Session() as session:
        short = session.run(v1.constant([1, 2, 3], shape=[5]))
        try:
            v1.constant([1, 2, 3], shape=[2])
        except ValueError as error:
            return [short, type(error).__name__]
    return [short]


@program
def weights_known_when_they_are_fed():
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.placeholder(tf.float32)
        loss = v1.losses.compute_weighted_loss(tf.constant([[1.0, 2.0]]), weights)
        out = [session.run(loss, {weights: 3.0}), session.run(loss, {weights: [[1.0, 0.0]]})]
        try:
            session.run(loss, {weights: [1.0, 2.0, 3.0]})
        except tf.errors.InvalidArgumentError:
            out.append("refused")
    return out


@program
def variables_of_messages():
    with tf.Graph().as_default():
        first = v1.Variable(3.0, trainable=False, use_resource=True)
        again = v1.Variable(variable_def=first.to_proto())
        counter = v1.Variable(0, use_resource=False)
        step = counter.count_up_to(2)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            out = [again.trainable, session.run(again), session.run(step), session.run(step)]
            try:
                session.run(step)
            except tf.errors.OutOfRangeError:
                out.append("enough")
            return out


@program
def variables_without_a_shape():
    with tf.Graph().as_default():
        v = v1.Variable([1.0, 2.0], validate_shape=False, use_resource=False)
        change = v1.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
        with v1.Session() as session:
            session.run(v.initializer)
            return [session.run(v), session.run(change)]


@program
def stop_gradients_in_the_middle():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(3.0)
        middle = x * x
        return [session.run(tf.gradients(middle * x, [x], stop_gradients=[middle]))]


@program
def local_variables_in_collections():
    with tf.Graph().as_default():
        v = v1.get_local_variable("v", [], collections=["mine"])
        return [v in v1.local_variables(), v in v1.get_collection("mine"),
                v in v1.trainable_variables()]  # fmt: skip


@program
def branches_that_only_do_something():
    with session() as sess:
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        p = v1.placeholder(tf.bool, [])
        counted = v1.cond(p, lambda: v.assign_add(1.0).op, lambda: tf.no_op())
        optimizer = v1.train.GradientDescentOptimizer(0.125)
        trained = v1.cond(p, lambda: optimizer.minimize(v * v, var_list=[v]), lambda: tf.no_op())
        checked = v1.cond(p, lambda: tf.no_op(), lambda: tf.debugging.Assert(False, ["no"]))
        sess.run(v1.global_variables_initializer())
        out = []
        for step in (counted, trained):
            for value in (True, False):
                sess.run(step, {p: value})
                out.append(sess.run(v))
        sess.run(checked, {p: True})
        return [*out, error_of(sess.run, checked, {p: False})]
