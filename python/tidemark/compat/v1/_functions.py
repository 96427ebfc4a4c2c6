"""Functions whose arguments in TensorFlow 1 differ from those in TensorFlow 2."""

from __future__ import annotations

import dataclasses

import tidemark as tf
from tidemark import dtypes
from tidemark._graph import func_graph
from tidemark._graph.scopes import executing_eagerly, init_scope
from tidemark.tensor_shape import as_shape


class SummaryMetadata:
    """What a plugin of TensorBoard is told about a summary."""

    @dataclasses.dataclass
    class PluginData:
        plugin_name: str = ""
        content: bytes = b""

    def __init__(self, plugin_data=None, display_name="", summary_description="", data_class=0):
        self.plugin_data = plugin_data or self.PluginData()
        self.display_name = display_name
        self.summary_description = summary_description
        self.data_class = data_class


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Gives a variable another value."""
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """Adds to a variable."""
    return ref.assign_add(value, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from a variable."""
    return ref.assign_sub(value, name=name)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The elements for which the mask is true."""
    return tf.boolean_mask(tensor, mask, axis)


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """One of two functions, by the truth of a tensor; a result in a list of one is unpacked."""
    result = tf.cond(
        pred, fn1 if true_fn is None else true_fn, fn2 if false_fn is None else false_fn
    )
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices of a tensor along an axis."""
    return tf.gather(params, indices, axis=axis, batch_dims=batch_dims)


def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """Elements, or slices, at the given places."""
    return tf.gather_nd(params, indices, batch_dims=batch_dims)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False,
          name=None):  # fmt: skip
    """Folds a function over rows, first to last."""
    return tf.foldl(fn, elems, initializer)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False,
          name=None):  # fmt: skip
    """Folds a function over rows, last to first."""
    return tf.foldr(fn, elems, initializer)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False,
           infer_shape=True, name=None, fn_output_signature=None):  # fmt: skip
    """A function of each row."""
    return tf.map_fn(fn, elems, fn_output_signature=fn_output_signature or dtype)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False,
         infer_shape=True, reverse=False, name=None):  # fmt: skip
    """All states of a fold."""
    return tf.scan(fn, elems, initializer, infer_shape=infer_shape, reverse=reverse)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10,
               back_prop=True, swap_memory=False, name=None, maximum_iterations=None,
               return_same_structure=False):  # fmt: skip
    """Calls ``body`` while ``cond`` holds; one variable alone is not in a list."""
    found = tf.while_loop(
        cond, body, loop_vars, shape_invariants, maximum_iterations=maximum_iterations
    )
    if not return_same_structure and isinstance(found, (list, tuple)) and len(found) == 1:
        return found[0]
    return found


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """With borders."""
    return tf.pad(tensor, paddings, mode, constant_values)


def where(condition, x=None, y=None, name=None):
    """As in TensorFlow 2; a condition of rank one may pick rows of more dimensions."""
    if x is None or y is None:
        return tf.where(condition, x, y)
    condition, x = tf.convert_to_tensor(condition), tf.convert_to_tensor(x)
    if condition.shape.rank == 1 and x.shape.rank > 1:
        condition = tf.reshape(condition, [-1] + [1] * (x.shape.rank - 1))
    return tf.where(condition, x, y)


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None,
                  expand_nonconcat_dims=None):  # fmt: skip
    """Sparse tensors joined along an axis."""
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return tf.sparse.concat(axis if concat_dim is None else concat_dim, sp_inputs, expand)


class random_normal_initializer:
    """Makes tensors of normal values."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self._mean, self._stddev, self._seed, self._dtype = mean, stddev, seed, dtype

    def __call__(self, shape, dtype=None, partition_info=None):
        kind = dtype or self._dtype
        return tf.random.normal(shape, self._mean, self._stddev, kind, self._seed)


class random_uniform_initializer:
    """Makes tensors of uniform values."""

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32):
        self._low, self._high, self._seed, self._dtype = minval, maxval, seed, dtype

    def __call__(self, shape, dtype=None, partition_info=None):
        kind = dtype or self._dtype
        return tf.random.uniform(shape, self._low, self._high, kind, self._seed)


# --- graphs --------------------------------------------------------------------------------------


def reset_default_graph():
    """Forgets the default graph; ops that run at once leave nothing in it."""


def get_default_graph():
    """The graph ops are added to; they run at once here."""
    raise _only_in_graphs("get_default_graph")


def executing_eagerly_outside_functions():
    """Whether ops outside of functions run at once, and not in a graph of sessions."""
    with init_scope():
        return executing_eagerly()


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False,
              gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients="none"):  # fmt: skip
    """Gradients in a graph; a GradientTape gives them where ops run at once."""
    raise RuntimeError(
        "tf.gradients is not supported when eager execution is enabled. "
        "Use tf.GradientTape instead."
    )


def placeholder_with_default(input, shape, name=None):
    """The default itself: it is known where ops run at once."""
    return tf.identity(input)


def sparse_placeholder(dtype, shape=None, name=None):
    """A sparse tensor of a graph that is given when it runs."""
    made = func_graph.sparse_placeholder(dtype, shape)
    if made is not None:
        return made
    if tf.executing_eagerly():
        raise _only_in_graphs("sparse_placeholder")
    from tidemark._v1.names import placeholder  # only sessions need it

    sizes = as_shape(shape)
    made = tf.SparseTensor(
        placeholder(dtypes.int64, [None, sizes.rank], name and f"{name}/indices"),
        placeholder(dtype, [None], name and f"{name}/values"),
        placeholder(dtypes.int64, [sizes.rank], name and f"{name}/shape"),
    )  # fmt: skip
    made.set_shape(sizes)
    return made


def _only_in_graphs(name):
    return RuntimeError(f"tf.compat.v1.{name}() is not compatible with eager execution.")
