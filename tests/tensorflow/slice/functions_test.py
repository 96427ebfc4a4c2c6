"""Functions, datasets, ragged tensors and gradients, as TensorFlow's own tests look at them."""

import numpy as np
from absl.testing import parameterized
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.eager import backprop, def_function
from tensorflow.python.framework import constant_op, dtypes, errors, sparse_tensor, tensor_spec
from tensorflow.python.ops import array_ops, math_ops, sparse_ops, tensor_array_ops, variables
from tensorflow.python.ops.ragged import ragged_factory_ops
from tensorflow.python.platform import test
from tensorflow.python.util import nest


class ArraysTest(test.TestCase, parameterized.TestCase):
    @parameterized.parameters(0, 1, -1)
    def test_reductions_along_an_axis(self, axis):
        x = np.arange(6.0).reshape(2, 3)
        self.assertAllClose(math_ops.reduce_sum(x, axis), x.sum(axis))
        self.assertAllClose(math_ops.reduce_max(x, axis), x.max(axis))

    def test_tensor_arrays_stack_twice(self):
        array = tensor_array_ops.TensorArray(dtypes.float32, 2).unstack([1.0, 2.0])
        self.assertAllEqual(array.stack(), [1.0, 2.0])
        self.assertAllEqual(array.stack(), [1.0, 2.0])

    def test_mixed_dtypes_are_errors(self):
        with self.assertRaises(errors.InvalidArgumentError):
            math_ops.add(constant_op.constant(1), constant_op.constant(1.5))
        add = def_function.function(lambda x, y: x + y)
        with self.assertRaises(TypeError):
            add(constant_op.constant(1), constant_op.constant(1.5))

    def test_ragged_rows(self):
        rows = ragged_factory_ops.constant([[1, 2], [], [3]])
        self.assertAllEqual(rows.row_lengths(), [2, 0, 1])
        self.assertAllEqual(math_ops.reduce_sum(rows, axis=1), [3, 0, 3])

    def test_sparse_rows_are_filled(self):
        sparse = sparse_tensor.SparseTensor([[2, 1], [0, 1], [0, 0]], [3.0, 1.0, 2.0], [4, 3])
        filled, empty = sparse_ops.sparse_fill_empty_rows(sparse, 9.0)
        self.assertAllEqual(filled.indices, [[0, 1], [0, 0], [1, 0], [2, 1], [3, 0]])
        self.assertAllEqual(empty, [False, True, False, True])


class FunctionsTest(test.TestCase, parameterized.TestCase):
    def test_one_trace_for_a_signature(self):
        traces = []

        @def_function.function(input_signature=[tensor_spec.TensorSpec([None], dtypes.float32)])
        def doubled(x):
            traces.append(1)
            return x * 2.0

        self.assertAllEqual(doubled(constant_op.constant([1.0])), [2.0])
        self.assertAllEqual(doubled(constant_op.constant([1.0, 2.0])), [2.0, 4.0])
        self.assertLen(traces, 1)

    def test_variables_are_made_once(self):
        held = []

        @def_function.function
        def counted():
            if not held:
                held.append(variables.Variable(0.0))
            return held[0].assign_add(1.0)

        self.assertAllEqual([counted() for _ in range(3)], [1.0, 2.0, 3.0])

    def test_gradients_through_loops(self):
        @def_function.function
        def power(x, n):
            y = constant_op.constant(1.0)
            for _ in math_ops.range(n):
                y *= x
            return y

        x = constant_op.constant(3.0)
        with backprop.GradientTape() as tape:
            tape.watch(x)
            y = power(x, constant_op.constant(4))
        self.assertAllClose(tape.gradient(y, x), 108.0)

    def test_nested_structures(self):
        @def_function.function
        def swapped(pair):
            return {"a": pair["b"], "b": pair["a"]}

        found = swapped({"a": constant_op.constant(1), "b": constant_op.constant(2)})
        self.assertEqual(nest.map_structure(lambda t: int(t.numpy()), found), {"a": 2, "b": 1})

    @parameterized.parameters(1, 2, 5)
    def test_batches(self, size):
        found = [x.numpy().tolist() for x in dataset_ops.Dataset.range(5).batch(size)]
        expected = [list(range(i, min(i + size, 5))) for i in range(0, 5, size)]
        self.assertEqual(found, expected)

    def test_errors_of_elements(self):
        data = dataset_ops.Dataset.from_tensor_slices(np.array([1.0, np.nan, 3.0], np.float32))
        data = data.map(lambda x: array_ops.check_numerics(x, "no number"))
        iterator = iter(data)
        self.assertAllEqual(next(iterator), 1.0)
        with self.assertRaises(errors.InvalidArgumentError):
            next(iterator)
        self.assertAllEqual(next(iterator), 3.0)


if __name__ == "__main__":
    test.main()
