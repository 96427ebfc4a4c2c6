"""Graphs, sessions and names, as TensorFlow's own tests look at them."""

from absl.testing import parameterized
from tensorflow.python.framework import constant_op, dtypes, errors, ops, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    check_ops,
    control_flow_ops,
    gradients_impl,
    math_ops,
    variable_scope,
    variable_v1,
    variables,
    while_loop,
)
from tensorflow.python.platform import test
from tensorflow.python.training import saver as saver_lib


class GraphsTest(test.TestCase, parameterized.TestCase):
    def test_variables_count_in_a_session(self):
        with ops.Graph().as_default(), self.session() as sess:
            count = variable_v1.VariableV1(0)
            step = count.assign_add(2)
            sess.run(variables.global_variables_initializer())
            self.assertAllEqual([sess.run(step) for _ in range(3)], [2, 4, 6])

    def test_gradients_stop_where_asked(self):
        with ops.Graph().as_default(), self.session():
            x = constant_op.constant(3.0)
            middle = x * x
            y = middle * x
            (whole,) = gradients_impl.gradients(y, [x])
            (part,) = gradients_impl.gradients(y, [x], stop_gradients=[middle])
            self.assertAllClose(self.evaluate([whole, part]), [27.0, 9.0])

    def test_checks_fire_in_sessions(self):
        with ops.Graph().as_default(), self.session() as sess:
            x = array_ops.placeholder(dtypes.float32, [None])
            with ops.control_dependencies([check_ops.assert_positive(x)]):
                y = array_ops.identity(x)
            self.assertAllEqual(sess.run(y, {x: [1.0]}), [1.0])
            with self.assertRaises(errors.InvalidArgumentError):
                sess.run(y, {x: [-1.0]})

    def test_names_are_unique(self):
        with ops.Graph().as_default() as graph:
            first = constant_op.constant(1.0, name="c")
            with ops.name_scope("scope"):
                second = constant_op.constant(2.0, name="c")
            third = constant_op.constant(3.0, name="c")
            names = [t.op.name for t in (first, second, third)]
            self.assertEqual(names, ["c", "scope/c", "c_1"])
            self.assertIs(graph.get_tensor_by_name("scope/c:0"), second)

    def test_scopes_share_variables(self):
        with ops.Graph().as_default():
            with variable_scope.variable_scope("a"):
                one = variable_scope.get_variable("v", [2])
            with variable_scope.variable_scope("a", reuse=True):
                other = variable_scope.get_variable("v", [2])
            self.assertIs(one, other)
            with variable_scope.variable_scope("a"), self.assertRaises(ValueError):
                variable_scope.get_variable("v", [2])

    def test_loops_have_gradients(self):
        with ops.Graph().as_default(), self.session():
            x = constant_op.constant(2.0)
            _, y = while_loop.while_loop(
                lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [constant_op.constant(0), x]
            )
            self.assertAllClose(self.evaluate(gradients_impl.gradients(y, x)), [32.0])

    def test_savers_give_values_back(self):
        path = self.get_temp_dir() + "/model"
        with ops.Graph().as_default(), self.session() as sess:
            v = variable_v1.VariableV1([1.0, 2.0], name="v")
            saver = saver_lib.Saver()
            sess.run(variables.global_variables_initializer())
            saver.save(sess, path)
            sess.run(v.assign([5.0, 6.0]))
            saver.restore(sess, path)
            self.assertAllEqual(sess.run(v), [1.0, 2.0])

    @parameterized.parameters(([2, None],), ([None],), ([],))
    def test_shapes_merge(self, sizes):
        shape = tensor_shape.TensorShape(sizes)
        self.assertTrue(shape.is_compatible_with(tensor_shape.TensorShape(None)))
        self.assertEqual(shape.merge_with(tensor_shape.TensorShape(None)).as_list(), sizes)

    def test_groups_run_all(self):
        with ops.Graph().as_default(), self.session() as sess:
            a, b = variable_v1.VariableV1(1), variable_v1.VariableV1(2)
            sess.run(variables.global_variables_initializer())
            sess.run(control_flow_ops.group(a.assign(10), b.assign(20)))
            self.assertEqual(self.evaluate(math_ops.add(a, b)), 30)


if __name__ == "__main__":
    test.main()
