"""More calls of ``tf.raw_ops``: steps of optimizers, references in graphs. See raw_op_calls.py."""

SETUP = """
def in_session(build):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.Variable([1.0, 2.0, 3.0], use_resource=False)
        made = build(variable)
        session.run(tf.compat.v1.global_variables_initializer())
        return session.run(made), session.run(variable)


def ref(variable):
    # What TensorFlow takes for a reference.
    return variable._ref() if hasattr(variable, "_ref") else variable


def stepped(name, slots, rows=None, **given):
    variables = [tf.Variable([[1.0], [-2.0], [3.0]])]
    variables += [tf.Variable([[0.1], [0.2], [0.3]]) for _ in slots.split()]
    named = dict(zip(["var", *slots.split()], [v.handle for v in variables]))
    if rows is not None:
        given["indices"] = rows
    getattr(tf.raw_ops, name)(**named, **given)
    return variables
"""

_GRAD = "grad=[[0.5], [-1.0], [0.25]]"
_ROWS = "grad=[[0.5], [-1.0]], rows=[2, 0]"
_TOTALS = "'gradient_accumulator gradient_squared_accumulator'"

CALLS = [
    f"stepped('ResourceApplyAdagrad', 'accum', lr=0.1, {_GRAD})",
    f"stepped('ResourceApplyAdagrad', 'accum', lr=0.1, {_GRAD}, update_slots=False)",
    f"stepped('ResourceSparseApplyAdagrad', 'accum', lr=0.1, {_ROWS})",
    f"stepped('ResourceApplyAddSign', 'm', lr=0.1, alpha=1.0, sign_decay=0.9, beta=0.8, {_GRAD})",
    f"stepped('ResourceApplyPowerSign', 'm', lr=0.1, logbase=1.0, sign_decay=0.9, beta=0.8,"
    f" {_GRAD})",
    f"stepped('ResourceApplyProximalAdagrad', 'accum', lr=0.1, l1=0.2, l2=0.3, {_GRAD})",
    f"stepped('ResourceSparseApplyProximalAdagrad', 'accum', lr=0.1, l1=0.2, l2=0.3, {_ROWS})",
    "stepped('ResourceApplyProximalGradientDescent', '', alpha=0.1, l1=0.2, l2=0.3,"
    " delta=[[0.5], [-1.0], [0.25]])",
    "stepped('ResourceApplyProximalGradientDescent', '', alpha=0.1, l1=0.0, l2=0.3,"
    " delta=[[0.5], [-1.0], [0.25]])",
    "stepped('ResourceSparseApplyProximalGradientDescent', '', alpha=0.1, l1=0.2, l2=0.3,"
    f" {_ROWS})",
    f"stepped('ResourceApplyAdagradDA', {_TOTALS}, lr=0.1, l1=0.2, l2=0.3,"
    f" global_step=np.int64(3), {_GRAD})",
    f"stepped('ResourceSparseApplyAdagradDA', {_TOTALS}, lr=0.1, l1=0.2, l2=0.3,"
    f" global_step=np.int64(3), {_ROWS})",
    "v = tf.Variable([[1.0], [2.0]]); r.ResourceScatterNdMax(ref=v.handle, indices=[[0], [1]],"
    " updates=[[5.0], [0.5]]); v",
    "v = tf.Variable([1.0, 2.0, 3.0]); r.ResourceStridedSliceAssign(ref=v.handle, begin=[0],"
    " end=[2], strides=[1], value=[7.0, 8.0]); v",
    "v = tf.Variable(3); r.ResourceCountUpTo(resource=v.handle, limit=5, T=tf.int32), v",
    "in_session(lambda v: r.Assign(ref=ref(v), value=[4.0, 5.0, 6.0]))",
    "in_session(lambda v: r.AssignAdd(ref=ref(v), value=[4.0, 5.0, 6.0]))",
    "in_session(lambda v: r.ScatterAdd(ref=ref(v), indices=[1], updates=[5.0]))",
    "in_session(lambda v: r.ApplyGradientDescent(var=ref(v), alpha=0.5, delta=[1.0, 1.0, 1.0]))",
]
