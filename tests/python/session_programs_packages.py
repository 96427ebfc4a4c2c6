"""More programs about sessions: what packages written for TensorFlow do in their own tests."""

import threading

from session_programs import program, tf

v1 = tf.compat.v1


@program
def variables_made_outside_of_functions():
    with tf.Graph().as_default(), v1.Session() as session:
        with tf.init_scope():
            first = tf.Variable(2.0)
            eager = tf.executing_eagerly()
        kept = []

        @tf.function
        def twice(x):
            if not kept:
                with tf.init_scope():
                    kept.append(tf.Variable(3.0))
            return x * kept[0]

        made = twice(first)
        session.run(v1.global_variables_initializer())
        return [eager, v1.executing_eagerly_outside_functions(), session.run([first, made])]


@program
def operations_that_stand_for_several():
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)
        both = tf.group(v.assign_add(1.0), tf.no_op())
        session.run(v.initializer)
        return [session.run(both), session.run(v), both.type, tf.no_op().type]


@program
def readings_after_updates():
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)
        update = v.assign_add(2.0)
        with tf.control_dependencies([update]):
            after = v * 10.0
            later = tf.identity(v)
        session.run(v.initializer)
        return [session.run(after), session.run(later), session.run(v)]


@program
def variables_of_modules_in_graphs():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v, self.w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)

    with tf.Graph().as_default():
        model = Model()
        return [[v.name for v in model.variables], [v.name for v in model.trainable_variables]]


@program
def tensors_with_a_value_and_without():
    kind = tf.__internal__.EagerTensor
    with tf.Graph().as_default():
        inside = [isinstance(tf.constant(1), kind), isinstance(tf.Variable(1), kind)]
        try:
            tf.Variable(1).numpy()
        except NotImplementedError as error:
            inside.append(type(error).__name__)
    return [*inside, isinstance(tf.constant(1), kind)]


@program
def threads_that_share_a_scope():
    def several():
        graph = v1.get_default_graph()
        found = []

        def body():
            with graph.as_default(), v1.variable_scope("foo"):
                try:
                    found.append(v1.get_variable("v", []).name)
                except ValueError:
                    found.append("there already")

        for _ in range(2):
            thread = threading.Thread(target=body)
            thread.start()
            thread.join()
        out.append(found)

    out = []
    with tf.Graph().as_default():
        several()
    v1.wrap_function(several, [])
    return out


@program
def templates_that_compute_at_once():
    def line(x):
        return x * v1.get_variable("w", [], initializer=v1.ones_initializer())

    def net(x):
        with v1.variable_scope("inner"):
            return line(x)

    template = v1.make_template("net", net)
    other = v1.make_template("net", net)
    out = [template(2.0), [v.name for v in template.variables]]
    template.variables[0].assign(5.0)
    out += [template(2.0), other(2.0), len(template.trainable_variables), template.name]

    @tf.function
    def traced(x):
        return template(x) + template(x)

    return [*out, traced(tf.constant(1.0)), len(template.variables), len(other.variables)]


@program
def who_takes_a_tensor():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        kept = [tf.identity(x, name="a"), tf.add(x, x, name="b"), tf.identity(x, name="c") + 1.0]
        y, z = tf.unique(x)
        kept.append(tf.identity(z, name="d"))
        names = [[op.name for op in t.consumers()] for t in (x, y, z, kept[0])]
    try:
        tf.constant(1.0).consumers()
    except NotImplementedError:
        names.append("NotImplementedError")
    return names
