"""Operations of ``tf.raw_ops`` on variables: reading, assigning, the steps of optimizers.

They take a variable's ``handle``. Steps change the variables in place and return nothing, as there.
"""

from __future__ import annotations

import tidemark as tf
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.methods import Reference
from tidemark._v1.graph_def import raw_calls


def _variable(handle):
    return handle.deref() if isinstance(handle, Reference) else handle


def _rows(variable, indices):
    return tf.gather(variable, indices)


def _set_rows(variable, indices, rows):
    variable.scatter_update(IndexedSlices(rows, indices))


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
        for variable, row in zip(variables, rows, strict=True):
            variable.assign(row)

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
        for variable, row in zip(variables, rows, strict=True):
            _set_rows(variable, indices, row)

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
_SPARSE = ("Adadelta", "AdagradV2", "CenteredRMSProp", "Ftrl", "FtrlV2", "KerasMomentum",
           "Momentum", "RMSProp")  # fmt: skip


def _adjusted(name, function):
    """ResourceApplyGradientDescent calls its gradient ``delta``, others ``grad``."""

    def computed(**given):
        if "delta" in given:
            given["grad"] = given.pop("delta")
        function(**given)
        return []

    return raw_calls.keyword_function(name, computed)


def _made():
    found = {}
    for name, (step, slots, numbers, flags) in _STEPS.items():
        parts = (step, slots.split(), [*numbers.split(), "grad"], flags)
        full = f"ResourceApply{name}"
        found[full] = _adjusted(full, _dense_step(*parts))
        if name in _SPARSE:
            full = f"ResourceSparseApply{name}"
            found[full] = _adjusted(full, _sparse_step(*parts))
    return found


NAMES = {name: value for name, value in globals().items() if name[0].isupper() and callable(value)}
NAMES = {**{k: v for k, v in NAMES.items() if k not in ("IndexedSlices", "Reference")}, **_made()}
