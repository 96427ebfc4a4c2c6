"""More programs: what packages written for TensorFlow do in their own tests."""

from function_programs import error_of, program, tf


@program
def variables_that_are_frozen_later():
    class Model(tf.Module):
        def __init__(self):
            self.a, self.b = tf.Variable(2.0), tf.Variable(3.0, trainable=False)

    model = Model()

    def gradients():
        with tf.GradientTape() as tape:
            loss = model.a * model.b
        return [tape.gradient(loss, [model.a, model.b]), len(tape.watched_variables())]

    out = [gradients()]
    model.a._trainable, model.b._trainable = False, True
    out += [model.a.trainable, len(model.trainable_variables), gradients()]
    model.a._trainable, model.b._trainable = True, False
    return [*out, gradients()]


@program
def values_of_unknown_sizes_for_variables():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def change(x):
        v.assign(x)

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def change_any(x):
        v.assign(x)

    out = []
    for _ in range(3):  # traced, and as it was traced
        change(tf.constant([4.0, 5.0, 6.0]))
        out += [v.numpy().tolist(), error_of(lambda: change(tf.constant([4.0, 5.0])))]
        change_any(tf.constant([1.0, 2.0, 3.0]))
        out += [v.numpy().tolist(), error_of(lambda: change_any(tf.constant([[4.0]])))]
    return [*out, v]


@program
def variables_of_zeros_like_what_is_given():
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def moving(x):
        mean = tf.reduce_mean(x, 0)
        if not kept:
            kept.extend([tf.Variable(tf.zeros_like(mean)), tf.Variable(tf.ones_like(mean))])
        kept[0].assign_add(mean)
        return kept[0] + kept[1]

    return [moving(tf.ones([2, 3])), moving(tf.ones([4, 3])), kept]


@program
def gamma_numbers_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)])
    def draw(alpha, shape):
        stateless = tf.random.stateless_gamma(shape, [1, 2], alpha)
        return tf.shape(tf.random.gamma([4], alpha)), tf.shape(stateless)

    alpha = tf.ones([2, 3])
    return [draw(alpha, [5, 2, 3]), draw(tf.ones([1, 2]), [1, 2]),
            error_of(lambda: draw(alpha, [5, 2]))]  # fmt: skip


@program
def what_calls_itself_a_tensor():
    class Like:
        is_tensor_like = True

    class Unlike:
        is_tensor_like = False

    return [tf.is_tensor(Like()), tf.is_tensor(Unlike()), tf.is_tensor(Like), tf.is_tensor(1)]


@program
def results_of_compiled_code():
    compile = tf.xla.experimental.compile

    kinds = []

    @tf.function
    def look():
        one = tf.constant(1.0)
        kinds.extend(type(compile(f)).__name__ for f in (lambda: one, lambda: (one, one)))
        return compile(lambda: one)

    return [look(), kinds]


@program
def older_names_of_strategies():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    return [strategy.unwrap(tf.constant(1.0)), strategy.group(tf.constant(2.0)),
            strategy.configure()]  # fmt: skip


@program
def combinations_of_tests():
    from absl.testing import parameterized

    combinations = tf.__internal__.test.combinations
    pairs = combinations.times(
        combinations.combine(size=[0, 3], mode=["eager", "graph"]), combinations.combine(z=[1])
    )
    seen = []

    class Sums(tf.test.TestCase, parameterized.TestCase):
        @combinations.generate(pairs)
        def test_ones(self, size, z):
            seen.append([size, z, tf.executing_eagerly()])

        @combinations.generate(combinations.combine(tf_api_version=[1, 2], mode="eager"))
        def test_versions(self):
            seen.append("version")

    @combinations.generate(combinations.combine(mode=["eager"], named=[
        combinations.NamedObject("Shown", [1])]))  # fmt: skip
    class Whole(tf.test.TestCase, parameterized.TestCase):
        def test_all(self, named):
            seen.append([*named])

    import unittest

    found = unittest.TestResult()
    for case in (Sums, Whole):
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(found)
    names = [name for case in (Sums, Whole) for name in sorted(vars(case)) if "test_" in name]
    names = [name for name in names if name.startswith("test_")]
    return [[dict(pair) for pair in pairs], seen, names, len(found.errors), len(found.skipped),
            error_of(lambda: combinations.times(pairs, pairs))]  # fmt: skip


@program
def folders_of_tests_and_what_they_print():
    import os
    import shutil
    import sys
    import unittest

    seen = []

    class Case(tf.test.TestCase):
        def test_folder(self):
            folder = self.get_temp_dir()
            self.addCleanup(shutil.rmtree, folder)
            seen.append(os.path.isdir(folder))

        def test_stream(self):
            with self.captureWritesToStream(sys.__stdout__) as captured:
                os.write(1, b"said\n")
            seen.append(captured.contents())

    found = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(found)
    return [seen, len(found.errors)]


@program
def variables_that_are_something_else():
    class Stand(tf.Variable):
        def __init__(self, value, trainable):
            self._trainable, self.held = trainable, value

        trainable = property(lambda self: self._trainable)

        def __repr__(self):
            return "a stand"

    with tf.variable_creator_scope(lambda following, **kwargs: Stand(kwargs["initial_value"], 3)):
        made = tf.Variable(1.0)
    return [isinstance(made, tf.Variable), made.trainable, made.held]


@program
def operations_of_other_devices():
    def cell(x):
        return tf.raw_ops.CudnnRNN(input=x, input_h=x, input_c=x, params=tf.ones([3]))

    ones = tf.ones([1, 1, 1])
    unused = tf.function(lambda x: cell(x)[0][-1] if x is None else x + 1.0)
    traced = tf.function(lambda x: cell(x)[1]).get_concrete_function(ones)
    return [error_of(lambda: cell(ones)), unused(ones), traced.outputs[0].dtype.name]


@program
def cells_over_steps_that_are_not_known():
    def block(count, x):
        state, w, b = tf.ones([2, 2]) * 0.5, tf.ones([5, 8]) * 0.1, tf.range(8.0) * 0.1
        peep = tf.zeros([2])
        return tf.raw_ops.BlockLSTMV2(
            seq_len_max=count, x=x, cs_prev=state, h_prev=state, w=w, wci=peep, wcf=peep,
            wco=peep, b=b, use_peephole=False)[6]  # fmt: skip

    x = tf.reshape(tf.range(18.0) * 0.1, [3, 2, 3])
    known = tf.function(lambda n: block(n, x))
    spec = [tf.TensorSpec([], tf.int64), tf.TensorSpec([None, 2, 3])]
    unknown = tf.function(block, input_signature=spec)
    two = tf.constant(2, tf.int64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(unknown(two, x))
    return [block(two, x), known(two), unknown(two, x), tape.gradient(loss, x)]
