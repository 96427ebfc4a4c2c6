"""Operations of ``tf.raw_ops`` on variables: reading, assigning, the steps of optimizers.

They take a variable's ``handle``. Steps change the variables in place and return nothing, as there.
"""

from __future__ import annotations

import tidemark as tf
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.methods import Reference
from tidemark._tensorflow.raw import elsewhere
from tidemark._v1.graph_def import raw_calls


def _variable(handle):
    return handle.deref() if isinstance(handle, Reference) else handle


def _rows(variable, indices):
    return tf.gather(variable, indices)


# --- reading and assigning -----------------------------------------------------------------------


def ReadVariableOp(*, resource, dtype, name=None):
    return _variable(resource).read_value()


def AssignVariableOp(*, resource, value, validate_shape=False, name=None):
    _variable(resource).assign(value)


def AssignAddVariableOp(*, resource, value, name=None):
    _variable(resource).assign_add(value)


def AssignSubVariableOp(*, resource, value, name=None):
    _variable(resource).assign_sub(value)


def VarIsInitializedOp(*, resource, name=None):
    return _variable(resource).is_initialized()


def VariableShape(*, input, out_type=tf.int32, name=None):
    return tf.shape(_variable(input), out_type)


def ResourceGather(*, resource, indices, dtype, batch_dims=0, validate_indices=True, name=None):
    return tf.gather(_variable(resource), indices, batch_dims=batch_dims)


def ResourceGatherNd(*, resource, indices, dtype, name=None):
    return tf.gather_nd(_variable(resource), indices)


def _scattering(name, method):
    def scatter(*, resource, indices, updates, name=None):
        getattr(_variable(resource), method)(IndexedSlices(updates, indices))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"Rows of a variable change: ``Variable.{method}``."
    return scatter


ResourceScatterAdd = _scattering("ResourceScatterAdd", "scatter_add")
ResourceScatterDiv = _scattering("ResourceScatterDiv", "scatter_div")
ResourceScatterMax = _scattering("ResourceScatterMax", "scatter_max")
ResourceScatterMin = _scattering("ResourceScatterMin", "scatter_min")
ResourceScatterMul = _scattering("ResourceScatterMul", "scatter_mul")
ResourceScatterSub = _scattering("ResourceScatterSub", "scatter_sub")
ResourceScatterUpdate = _scattering("ResourceScatterUpdate", "scatter_update")


def ResourceScatterNdUpdate(*, ref, indices, updates, use_locking=True, bad_indices_policy="",
    name=None):  # fmt: skip
    _variable(ref).scatter_nd_update(indices, updates)


def ResourceScatterNdAdd(*, ref, indices, updates, use_locking=True, bad_indices_policy="",
    name=None):  # fmt: skip
    _variable(ref).scatter_nd_add(indices, updates)


def ResourceScatterNdSub(*, ref, indices, updates, use_locking=True, bad_indices_policy="",
    name=None):  # fmt: skip
    _variable(ref).scatter_nd_sub(indices, updates)


# --- steps of optimizers -------------------------------------------------------------------------
# Each is a function of the rows of the variables and the gradient, which gives their new rows; it
# is made into one over whole variables and one over some rows.


def _sgd(var, alpha, grad):
    return (var - alpha * grad,)


def _keras_momentum(var, accum, lr, grad, momentum, use_nesterov):
    accum = accum * momentum - lr * grad
    return (var + (accum * momentum - lr * grad if use_nesterov else accum)), accum


def _momentum(var, accum, lr, grad, momentum, use_nesterov):
    accum = accum * momentum + grad
    return var - lr * (grad + momentum * accum if use_nesterov else accum), accum


def _adagrad(var, accum, lr, epsilon, grad, update_slots):
    accum = accum + grad * grad if update_slots else accum
    return var - lr * grad / (tf.sqrt(accum) + epsilon), accum


def _adagrad_v1(var, accum, lr, grad, update_slots):
    accum = accum + grad * grad if update_slots else accum
    return var - lr * grad * tf.math.rsqrt(accum), accum


def _shrunk(value, by, l1, l2):
    """The proximal step: smaller by ``by * l1``, 0 where that would change the sign."""
    shrunk = tf.sign(value) * tf.maximum(tf.abs(value) - by * l1, tf.zeros_like(value))
    return tf.where(l1 > 0, shrunk, value) / (1 + by * l2)


def _proximal_sgd(var, alpha, l1, l2, grad):
    return (_shrunk(var - alpha * grad, alpha, l1, l2),)


def _proximal_adagrad(var, accum, lr, l1, l2, grad):
    accum = accum + grad * grad
    rate = lr * tf.math.rsqrt(accum)
    return _shrunk(var - rate * grad, rate, l1, l2), accum


def _adagrad_da(
    var, gradient_accumulator, gradient_squared_accumulator, lr, l1, l2, global_step, grad
):
    total = gradient_accumulator + grad
    squared = gradient_squared_accumulator + grad * grad
    step = tf.cast(global_step, var.dtype)
    kept = tf.maximum(tf.abs(total) - step * l1, tf.zeros_like(total))
    moved = tf.where(l1 > 0, tf.sign(total) * kept, total)
    return -lr * moved / (l2 * step * lr + tf.sqrt(squared)), total, squared


def _add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * tf.sign(grad) * tf.sign(m)) * grad, m


def _power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m = m * beta + grad * (1 - beta)
    return var - lr * tf.exp(logbase * sign_decay * tf.sign(grad) * tf.sign(m)) * grad, m


def _adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = accum * rho + grad * grad * (1 - rho)
    update = tf.sqrt(accum_update + epsilon) * tf.math.rsqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def _rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr * tf.math.rsqrt(ms + epsilon)
    return var - mom, ms, mom


def _centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + lr * grad * tf.math.rsqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    ahead = m * beta1 + (1 - beta1) * grad if use_nesterov else m
    return var - rate * ahead / (tf.sqrt(v) + epsilon), m, v


def _amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = tf.maximum(v, vhat)
    return var - rate * m / (tf.sqrt(vhat) + epsilon), m, v, vhat


def _ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m = m + (grad - m) * (1 - beta1)
    v = tf.maximum(beta2 * v, tf.abs(grad))
    return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


def _ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, l2_shrinkage=0.0):
    shrunk = grad + 2 * l2_shrinkage * var
    grown = accum + grad * grad
    sigma = (tf.pow(grown, -lr_power) - tf.pow(accum, -lr_power)) / lr
    linear = linear + shrunk - sigma * var
    quadratic = tf.pow(grown, -lr_power) / lr + 2 * l2
    kept = (tf.sign(linear) * l1 - linear) / quadratic
    return tf.where(tf.abs(linear) > l1, kept, tf.zeros_like(kept)), grown, linear


def _dense_step(step, slots, numbers, flags):
    def apply(use_locking=False, name=None, **given):
        variables = [_variable(given[slot]) for slot in slots]
        chosen = _chosen(given, numbers, flags, variables[0].dtype)
        rows = step(*(v.value() for v in variables), **chosen)
        return [v.assign(row) for v, row in zip(variables, rows, strict=True)]

    return apply


def _sparse_step(step, slots, numbers, flags):
    def apply(indices, use_locking=False, name=None, **given):
        # Rows that come up more than once get the sum of their gradients, once.
        indices, place = tf.unique(tf.convert_to_tensor(indices))
        summed = tf.math.unsorted_segment_sum(given["grad"], place, tf.size(indices))
        given = {**given, "grad": summed}
        variables = [_variable(given[slot]) for slot in slots]
        chosen = _chosen(given, numbers, flags, variables[0].dtype)
        rows = step(*(_rows(v, indices) for v in variables), **chosen)
        pairs = zip(variables, rows, strict=True)
        return [variable.scatter_update(IndexedSlices(row, indices)) for variable, row in pairs]

    return apply


def _chosen(given, numbers, flags, dtype):
    """The arguments of a step: numbers as tensors of the variables' dtype, flags as they are."""
    made = {name: tf.convert_to_tensor(given[name], dtype) for name in numbers}
    return {**made, **{name: given.get(name, default) for name, default in flags.items()}}


# name in Resource[Sparse]Apply… → the step, its variables, its numbers, its flags
_STEPS = {
    "GradientDescent": (_sgd, "var", "alpha", {}),
    "KerasMomentum": (_keras_momentum, "var accum", "lr momentum", {"use_nesterov": False}),
    "Momentum": (_momentum, "var accum", "lr momentum", {"use_nesterov": False}),
    "Adagrad": (_adagrad_v1, "var accum", "lr", {"update_slots": True}),
    "AdagradDA": (
        _adagrad_da, "var gradient_accumulator gradient_squared_accumulator",
        "lr l1 l2 global_step", {},
    ),
    "AddSign": (_add_sign, "var m", "lr alpha sign_decay beta", {}),
    "PowerSign": (_power_sign, "var m", "lr logbase sign_decay beta", {}),
    "ProximalAdagrad": (_proximal_adagrad, "var accum", "lr l1 l2", {}),
    "ProximalGradientDescent": (_proximal_sgd, "var", "alpha l1 l2", {}),
    "AdagradV2": (_adagrad, "var accum", "lr epsilon", {"update_slots": True}),
    "Adadelta": (_adadelta, "var accum accum_update", "lr rho epsilon", {}),
    "RMSProp": (_rms_prop, "var ms mom", "lr rho momentum epsilon", {}),
    "CenteredRMSProp": (_centered_rms_prop, "var mg ms mom", "lr rho momentum epsilon", {}),
    "Adam": (
        _adam, "var m v", "beta1_power beta2_power lr beta1 beta2 epsilon",
        {"use_nesterov": False},
    ),
    "AdamWithAmsgrad": (
        _amsgrad, "var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon", {},
    ),
    "AdaMax": (_ada_max, "var m v", "beta1_power lr beta1 beta2 epsilon", {}),
    "Ftrl": (_ftrl, "var accum linear", "lr l1 l2 lr_power", {}),
    "FtrlV2": (_ftrl, "var accum linear", "lr l1 l2 lr_power l2_shrinkage", {}),
}  # fmt: skip
_SPARSE = ("Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "CenteredRMSProp", "Ftrl", "FtrlV2",
           "KerasMomentum", "Momentum", "ProximalAdagrad", "ProximalGradientDescent",
           "RMSProp")  # fmt: skip
_RESOURCES_ONLY = ("AdamWithAmsgrad", "KerasMomentum")


def _adjusted(name, function):
    """Some operations call their gradient ``delta``, others ``grad``.

    Those on resources give nothing, in graphs the operation; those on references the variable.
    """

    def computed(**given):
        if "delta" in given:
            given["grad"] = given.pop("delta")
        done = function(**given)
        if tf.executing_eagerly():
            return []
        if name.startswith("Resource"):
            return [tf.group(*done)]
        with tf.control_dependencies(done):
            return [_variable(given["var"]).read_value()]

    return raw_calls.keyword_function(name, computed)


def _steps():
    found = {}
    for name, (step, slots, numbers, flags) in _STEPS.items():
        parts = (step, slots.split(), [*numbers.split(), "grad"], flags)
        kinds = {"Apply": _dense_step(*parts)}
        if name in _SPARSE:
            kinds["SparseApply"] = _sparse_step(*parts)
        for kind, function in kinds.items():
            wholes = [f"Resource{kind}{name}"]
            if name not in _RESOURCES_ONLY:
                wholes.append(f"{kind}{name}")
            found.update((whole, _adjusted(whole, function)) for whole in wholes)
    return found


# --- references, which graphs have ---------------------------------------------------------------


def _on_reference(change):
    """What changes a variable and gives it as it is then."""

    def computed(ref, **given):
        variable = _variable(ref)
        with tf.control_dependencies([change(variable, **given)]):
            return [variable.read_value()]

    return computed


def _rows_changed(method):
    def change(variable, indices, updates, **_):
        return getattr(variable, method)(IndexedSlices(updates, indices))

    return _on_reference(change)


def _places_changed(method):
    return _on_reference(lambda v, indices, updates, **_: getattr(v, method)(indices, updates))


def _sliced(variable, begin, end, strides, value, **masks):
    """Assigns to the part of a variable that a strided slice means."""
    key = []
    bounds = [tf.convert_to_tensor(one).numpy().tolist() for one in (begin, end, strides)]
    for at, (first, last, stride) in enumerate(zip(*bounds, strict=True)):
        masked = {name for name, mask in masks.items() if name.endswith("mask") and mask >> at & 1}
        if "ellipsis_mask" in masked:
            key.append(Ellipsis)
        elif "new_axis_mask" in masked:
            key.append(tf.newaxis)
        elif "shrink_axis_mask" in masked:
            key.append(first)
        else:
            first = None if "begin_mask" in masked else first
            last = None if "end_mask" in masked else last
            key.append(slice(first, last, stride))
    return variable[tuple(key)].assign(value)


def _count_up_to(variable, limit, **_):
    value = variable.read_value()
    if tf.executing_eagerly() and int(value) >= limit:
        raise tf.errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
    with tf.control_dependencies(
        [tf.debugging.Assert(value < limit, [f"Reached limit of {limit}"])]
    ):
        before = tf.identity(value)
    with tf.control_dependencies([variable.assign(before + 1)]):
        return tf.identity(before)


def _new_reference(shape, dtype, shared_name="", **_):
    """A variable without a value; a graph's own, which its ``assign`` fills."""
    return tf.compat.v1.Variable(tf.zeros(shape, dtype), trainable=False, collections=[])


def _handle(dtype, shape, debug_name="", **_):
    made = tf.Variable(tf.zeros(tf.TensorShape(shape), dtype), trainable=False)
    return made.handle


_REFERENCES = {
    "Assign": _on_reference(lambda v, value, **_: v.assign(value)),
    "AssignAdd": _on_reference(lambda v, value, **_: v.assign_add(value)),
    "AssignSub": _on_reference(lambda v, value, **_: v.assign_sub(value)),
    "CountUpTo": lambda ref, limit, **_: [_count_up_to(_variable(ref), limit)],
    "IsVariableInitialized": lambda ref: [_variable(ref).is_initialized()],
    "RefIdentity": lambda input: [input],
    "ResourceCountUpTo": lambda resource, limit, **_: [_count_up_to(_variable(resource), limit)],
    "ScatterAdd": _rows_changed("scatter_add"),
    "ScatterDiv": _rows_changed("scatter_div"),
    "ScatterMax": _rows_changed("scatter_max"),
    "ScatterMin": _rows_changed("scatter_min"),
    "ScatterMul": _rows_changed("scatter_mul"),
    "ScatterSub": _rows_changed("scatter_sub"),
    "ScatterUpdate": _rows_changed("scatter_update"),
    "ScatterNdAdd": _places_changed("scatter_nd_add"),
    "ScatterNdMax": _places_changed("scatter_nd_max"),
    "ScatterNdMin": _places_changed("scatter_nd_min"),
    "ScatterNdSub": _places_changed("scatter_nd_sub"),
    "ScatterNdUpdate": _places_changed("scatter_nd_update"),
    "Variable": _new_reference,
    "VariableV2": _new_reference,
}


def _resource_scatter(method):
    def scatter(ref, indices, updates, **_):
        done = getattr(_variable(ref), method)(indices, updates)
        return [] if tf.executing_eagerly() else [tf.group(done)]

    return scatter


_ON_HANDLES = {
    "DisableCopyOnRead": lambda resource: [],
    "DestroyResourceOp": lambda resource, ignore_lookup_error: [],
    "ResourceScatterNdMax": _resource_scatter("scatter_nd_max"),
    "ResourceScatterNdMin": _resource_scatter("scatter_nd_min"),
    "ResourceStridedSliceAssign": lambda ref, **given: _no_result(_sliced(_variable(ref), **given)),
    "StridedSliceAssign": _on_reference(_sliced),
    "VarHandleOp": _handle,
}


def _no_result(done):
    return [] if tf.executing_eagerly() else [tf.group(done)]


def _made():
    found = _steps()
    for name, function in {**_REFERENCES, **_ON_HANDLES}.items():
        found[name] = raw_calls.keyword_function(name, function)
    return {name: elsewhere.only_in_graphs(name, function) for name, function in found.items()}


NAMES = {name: value for name, value in globals().items() if name[0].isupper() and callable(value)}
NAMES = {**{k: v for k, v in NAMES.items() if k not in ("IndexedSlices", "Reference")}, **_made()}
