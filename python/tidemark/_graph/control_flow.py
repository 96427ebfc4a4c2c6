"""Conditions, loops and functions over elements: ``tf.cond``, ``tf.while_loop``, ``tf.map_fn``, …

Computed at once a condition is a Python decision, a loop a Python loop; while a graph is built they
become nodes of it.
"""

from __future__ import annotations

import functools

import tidemark
from tidemark import nest
from tidemark._export import export
from tidemark._graph.scopes import get_logger
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import CompositeTensor, TypeSpec
from tidemark._tidemark import Tensor, call, is_tracing
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import sizes_of


def staged():
    from tidemark._graph import staged  # only graphs need it

    return staged


def staged_maps():
    from tidemark._graph import staged_maps  # it imports this module

    return staged_maps


def _truth(pred, what="pred"):
    """A condition as a Python bool."""
    if isinstance(pred, bool):
        return pred
    if pred is None:
        raise TypeError(f"{what} must not be None")
    pred = convert_to_tensor(pred)
    if pred.ndim:
        raise InvalidArgumentError(None, None, f"[cond] {what} must be a scalar, got {pred.shape}")
    return bool(pred)


def _check_callable(function, name):
    if not callable(function):
        raise TypeError(f"'{name}' must be callable, got {function!r}.")


@export("tf.cond")
def cond(pred, true_fn=None, false_fn=None, name=None):
    """What ``true_fn()`` returns if ``pred`` is true, else what ``false_fn()`` does."""
    _check_callable(true_fn, "true_fn")
    _check_callable(false_fn, "false_fn")
    if is_tracing() and not isinstance(pred, bool):
        return staged().cond(pred, true_fn, false_fn)
    return (true_fn if _truth(pred) else false_fn)()


@export("tf.case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Calls the function beside the first condition that holds, else ``default``."""
    if isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = list(pred_fn_pairs.items())
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict, got {pred_fn_pairs!r}")
    if is_tracing() and pred_fn_pairs:
        pairs = [_checked_pair(pair) for pair in pred_fn_pairs]
        if exclusive or default is None:
            staged().effect(functools.partial(_check_conditions, exclusive, default is not None),
                             *[pred for pred, _ in pairs])  # fmt: skip
        return _staged_case(pairs, default)
    chosen = None
    for pair in pred_fn_pairs:
        pred, function = _checked_pair(pair)
        if chosen is not None and not exclusive:
            break
        if _truth(pred):
            if chosen is not None:
                _fail_case("exclusive=True, but more than one condition holds")
            chosen = function
    if chosen is None:
        chosen = default
    if chosen is None:
        _fail_case("None of the conditions evaluated as True, and there is no default")
    _check_callable(chosen, "default")
    return chosen()


def _checked_pair(pair):
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"each pair must be (condition, function), got {pair!r}")
    _check_callable(pair[1], "pred_fn_pairs")
    return tuple(pair)


def _fail_case(why):
    raise InvalidArgumentError(None, None, f"[case] {why}")


def _check_conditions(exclusive, has_default, *preds):
    """Raises when the graph runs and the conditions are not what they were said to be."""
    count = sum(bool(pred) for pred in preds)
    if exclusive and count > 1:
        _fail_case("exclusive=True, but more than one condition holds")
    if count == 0 and not has_default:
        _fail_case("None of the conditions evaluated as True, and there is no default")


@export("tf.switch_case")
def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Calls the function of that number; ``default``, or the last one, for other numbers."""
    if isinstance(branch_fns, dict):
        numbered = dict(branch_fns)
    else:
        given = list(branch_fns)
        pairs = given and isinstance(given[0], (list, tuple))
        numbered = dict(given) if pairs else dict(enumerate(given))
    if not numbered:
        raise ValueError("branch_fns must not be empty")
    for number, function in numbered.items():
        if not isinstance(number, int):
            raise TypeError(f"'branch_fns' must have integer keys, got {number!r}")
        _check_callable(function, "branch_fns")
    if is_tracing() and not isinstance(branch_index, int):
        return _staged_switch(branch_index, numbered, default)
    function = numbered.get(int(branch_index))
    if function is None:
        function = default if default is not None else numbered[max(numbered)]
    return function()


def _staged_switch(index, numbered, default):
    if sorted(numbered) != list(range(len(numbered))):
        raise ValueError("branch indices must form contiguous range of [0 to len(branch_fns))")
    functions = [numbered[number] for number in sorted(numbered)]
    functions.append(default or functions[-1])
    names = [f"branch {number}" for number in range(len(functions))]
    index = convert_to_tensor(index)
    return staged().branch(index, functions, names, "tf.switch_case")


def _staged_case(pairs, default):
    """Nested conditions, the first one outermost."""
    (pred, function), *rest = pairs
    if not rest and default is None:
        default = function
    other = default if not rest else lambda: _staged_case(rest, default)
    return cond(pred, function, other)


@export("tf.while_loop")
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """Calls ``body`` with the loop variables, which it replaces, while ``cond`` of them holds."""
    _check_callable(cond, "cond")
    _check_callable(body, "body")
    if parallel_iterations < 1:
        raise ValueError("'parallel_iterations' must be a positive integer.")
    pack = isinstance(loop_vars, (list, tuple))
    variables = loop_vars if pack else (loop_vars,)
    if is_tracing():
        if shape_invariants is not None and not pack:
            shape_invariants = (shape_invariants,)
        variables = staged().while_loop(cond, body, variables, shape_invariants, maximum_iterations)
        return variables if pack else variables[0]
    count = 0
    limit = None if maximum_iterations is None else int(maximum_iterations)
    while (limit is None or count < limit) and _truth(cond(*variables), "cond"):
        result = body(*variables)
        if not pack and isinstance(result, (list, tuple)) and len(result) == 1:
            result = result[0]
        new = result if isinstance(result, (list, tuple)) and pack else (result,)
        if isinstance(loop_vars, list):
            new = list(new)
        try:
            nest.assert_same_structure(list(variables), list(new), check_types=False)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"body must return as many values as there are loop variables: {error}"
            ) from None
        variables = new
        count += 1

    def as_tensor(value):
        kept = hasattr(value, "_is_tensor_array") or isinstance(value, CompositeTensor)
        return value if kept else convert_to_tensor(value)

    variables = nest.map_structure(as_tensor, variables)
    return variables if pack else variables[0]


# --- functions over the elements along the first axis ---------------------------------------------


def _converted(fn):
    """The function as AutoGraph makes it, where the code around it is converted."""
    from tidemark.autograph._context import control_status_ctx  # only tracing needs it
    from tidemark.autograph._impl import tf_convert  # only tracing needs it

    return tf_convert(fn, control_status_ctx())


def check_elements(leaves, function):
    """Raises unless there is something with a first axis to go over."""
    if not leaves:
        raise ValueError(f"{function}: elems must be a Tensor or a nested structure of Tensors")
    if any(leaf.shape.rank == 0 for leaf in leaves):
        raise ValueError(
            f"{function}: elements in elems must be at least 1-dimensional Tensors, not scalars: "
            "it goes over their first axis"
        )


def _elements(elems, function):
    """The leaves as tensors, and how many elements they have, all the same number."""
    leaves = [_element_source(leaf) for leaf in nest.flatten(elems)]
    check_elements(leaves, function)
    counts = set()
    for leaf in leaves:
        if is_sparse(leaf) or is_ragged(leaf):
            counts.add(int(leaf.dense_shape[0] if is_sparse(leaf) else leaf.nrows()))
            continue
        counts.add(leaf._shape_tuple()[0])
    if len(counts) > 1:
        raise InvalidArgumentError(
            None, None, f"[{function}] elems differ in their number of elements: {sorted(counts)}"
        )
    return leaves, counts.pop()


def is_sparse(value):
    """Whether a value is a sparse tensor."""
    return hasattr(value, "dense_shape") and hasattr(value, "values")


def is_ragged(value):
    """Whether a value is a ragged tensor."""
    return hasattr(value, "ragged_rank") and hasattr(value, "nrows")


def _element_source(leaf):
    is_composite = hasattr(leaf, "_type_spec") and (is_sparse(leaf) or is_ragged(leaf))
    return leaf if is_composite else convert_to_tensor(leaf)


def sparse_row(value, index):
    """A row of a sparse tensor, which is sparse itself."""
    rest = value.dense_shape[1:]
    place = tidemark.cast(index, value.dense_shape.dtype)
    start = tidemark.concat([[place], call("zeros_like", (rest,), {"dtype": None})], 0)
    row = tidemark.sparse.slice(value, start, tidemark.concat([[1], rest], 0))
    return tidemark.SparseTensor(row.indices[:, 1:], row.values, rest)


def _at(elems, leaves, index):
    rows = [sparse_row(leaf, index) if is_sparse(leaf) else leaf[index] for leaf in leaves]
    return nest.pack_sequence_as(elems, rows)


def _stacked(structure, rows):
    """One row of leaves for each element, as tensors with a new first axis."""
    return nest.pack_sequence_as(
        structure,
        [call("stack", (list(column),), {"axis": 0}) for column in zip(*rows, strict=False)],
    )


def dtype_of(signature):
    """The dtype that a specification, or what names a dtype, stands for; None: it says none."""
    if signature is None or isinstance(signature, TypeSpec):
        return getattr(signature, "dtype", None)
    return as_dtype(signature)


def shape_of(signature):
    """The shape that a specification announces; None."""
    return getattr(signature, "shape", None) if isinstance(signature, TypeSpec) else None


@export("tf.map_fn")
def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """``fn`` of every element along the first axis, stacked."""
    _check_callable(fn, "fn")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if is_tracing():
        return staged_maps().map_fn(_converted(fn), elems, signature, _check_row)
    from tidemark._graph.columns import column_of, row_spec  # loaded on first use

    leaves, count = _elements(elems, "map_fn")
    if not count and signature is None:
        return nest.pack_sequence_as(elems, leaves)  # nothing in, nothing out
    structure = elems if signature is None else signature
    kinds = map(row_spec, leaves) if signature is None else nest.flatten(signature)
    columns = [column_of(kind) for kind in kinds]
    arrays = [column.arrays(count) for column in columns]
    for index in range(count):
        result = fn(_at(elems, leaves, index))
        nest.assert_same_structure(structure, result)
        row = [_element_source(leaf) for leaf in nest.flatten(result)]
        _check_row(row, elems, leaves, signature)
        written = zip(columns, arrays, row, strict=True)
        arrays = [column.write(places, index, leaf) for column, places, leaf in written]
    pairs = zip(columns, arrays, strict=True)
    return nest.pack_sequence_as(structure, [c.result(places, count) for c, places in pairs])


def _check_row(row, elems, leaves, signature):
    """What fn returned has the types it announced: those of elems unless it said otherwise."""
    wanted = [leaf.dtype for leaf in leaves]
    if signature is not None:
        wanted = [dtype_of(kind) for kind in nest.flatten(signature)]
    for leaf, dtype in zip(row, wanted, strict=False):
        if dtype is not None and leaf.dtype != dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"[map_fn] fn returned {leaf.dtype.name} where {dtype.name} was announced; give "
                "fn_output_signature the type that it returns",
            )


@export("tf.vectorized_map")
def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """``fn`` of every element along the first axis, stacked; elements of size 1 are repeated."""
    from tidemark._graph.vectorized import NoRule, vectorized  # loaded on first use

    _check_callable(fn, "fn")
    fn = _converted(fn) if is_tracing() else fn
    try:
        return vectorized(fn, elems)
    except NoRule as error:
        if not fallback_to_while_loop:
            raise ValueError(
                f"No pfor vectorization for {error}: tf.vectorized_map cannot compute it for all "
                "elements at once; let it loop with fallback_to_while_loop=True, or use tf.map_fn"
            ) from None
        if warn:
            get_logger().info("tf.vectorized_map loops over the elements because of: %s", error)
    if is_tracing():
        return staged_maps().vectorized_map(fn, elems)
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    counts = {leaf._shape_tuple()[0] for leaf in leaves}
    count = max(counts) if counts - {1} else 1
    if 0 in counts:
        raise ValueError("vectorized_map needs at least one element along the first axis")
    if counts - {1, count}:
        raise ValueError(f"elems differ in their number of elements: {sorted(counts)}")

    def at(index):
        picked = [leaf[index if leaf._shape_tuple()[0] > 1 else 0] for leaf in leaves]
        return nest.pack_sequence_as(elems, picked)

    results = [fn(at(index)) for index in range(count)]
    rows = [[convert_to_tensor(leaf) for leaf in nest.flatten(result)] for result in results]
    return _stacked(results[0], rows)


def _fold(fn, elems, initializer, order, function):
    _check_callable(fn, "fn")
    leaves, count = _elements(elems, function)
    indices = list(order(range(count)))
    if initializer is None:
        if not indices:
            raise InvalidArgumentError(
                None, None, f"[{function}] without elements needs an initializer"
            )
        return leaves, _at(elems, leaves, indices[0]), indices[1:]
    return leaves, nest.map_structure(convert_to_tensor, initializer), indices


def _folded(fn, elems, initializer, function, reverse):
    if is_tracing():
        return staged_maps().fold(fn, elems, initializer, function, reverse=reverse)
    order = reversed if reverse else iter
    leaves, value, indices = _fold(fn, elems, initializer, order, function)
    for index in indices:
        value = fn(value, _at(elems, leaves, index))
    return nest.map_structure(convert_to_tensor, value)


@export("tf.foldl")
def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """``fn(fn(fn(initializer, elems[0]), elems[1]), …)``."""
    return _folded(fn, elems, initializer, "foldl", reverse=False)


@export("tf.foldr")
def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """As ``foldl``, from the last element on."""
    return _folded(fn, elems, initializer, "foldr", reverse=True)


@export("tf.scan")
def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """All intermediate values of a fold, stacked in the order of the elements."""
    if is_tracing():
        _check_callable(fn, "fn")
        return staged_maps().scan(fn, elems, initializer, reverse)
    leaves, value, indices = _fold(fn, elems, initializer, reversed if reverse else iter, "scan")
    rows = []
    if initializer is None:
        rows.append([convert_to_tensor(leaf) for leaf in nest.flatten(value)])
    for index in indices:
        value = fn(value, _at(elems, leaves, index))
        rows.append([convert_to_tensor(leaf) for leaf in nest.flatten(value)])
    if not rows:
        raise InvalidArgumentError(None, None, "[scan] there are no elements to go over")
    return _stacked(value, rows[::-1] if reverse else rows)


# --- Python functions as ops ----------------------------------------------------------------------


def _with_types(result, types, function):
    if types is None or (isinstance(types, (list, tuple)) and not types):
        return result if result is None else convert_to_tensor(result)
    if not isinstance(types, (list, tuple)):
        return convert_to_tensor(result, dtype=dtype_of(types))
    values = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(values) != len(types):
        raise InvalidArgumentError(
            None, None, f"[{function}] func returned {len(values)} values, Tout names {len(types)}"
        )
    return [convert_to_tensor(v, dtype=dtype_of(t)) for v, t in zip(values, types, strict=False)]


@export("tf.py_function")
def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function with tensors; what it returns becomes tensors of the given types."""
    if is_tracing():
        return _staged_python(func, inp, Tout, "py_function")
    return _with_types(func(*[convert_to_tensor(x) for x in inp]), Tout, "py_function")


def _staged_python(function, inputs, types, what):
    """The call as a node: made whenever the graph runs."""

    def run(*values):
        result = _with_types(function(*values), types, what)
        return () if result is None else result

    is_list = isinstance(types, (list, tuple))
    flat = list(types) if is_list else [] if types is None else [types]
    specs = [(dtype_of(kind), sizes_of(shape_of(kind))) for kind in flat]
    results = staged().python_call(run, inputs, specs)
    if is_list:
        return results
    return results[0] if results else None


def _without_gradient(result):
    """The result as one that nobody can differentiate: NumPy tells nothing of how it came."""
    return call("stop_gradient", (result,), {}) if isinstance(result, Tensor) else result


@export("tf.numpy_function")
def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls a Python function with NumPy arrays; what it returns becomes tensors."""
    if is_tracing():
        made = _staged_python(
            lambda *values: func(*[v.numpy() for v in values]), inp, Tout, "numpy_function"
        )
        return nest.map_structure(_without_gradient, made)
    result = func(*[convert_to_tensor(x).numpy() for x in inp])
    return _with_types(result, Tout, "numpy_function")
