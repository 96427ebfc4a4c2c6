"""Calls of ``tf.raw_ops``, run by TensorFlow once (tools/record_raw_ops.py) and here by the tests.

Each is an expression over ``tf``, ``np``, ``r`` (tf.raw_ops) and ``image``; lines of statements
that end in one are separated by ``;``.
"""

import raw_op_calls_control
import raw_op_calls_messages
import raw_op_calls_more
import raw_op_calls_objects
import raw_op_calls_updates

SETUP = """
image = tf.constant(np.arange(2 * 4 * 4 * 3).reshape(2, 4, 4, 3) / 96.0, tf.float32)
"""

CALLS = [
    "r.AddV2(x=[1.0, 2.0], y=[3.0, 4.0])",
    "r.BroadcastGradientArgs(s0=tf.constant([2, 1]), s1=tf.constant([1, 1]))",
    "r.BroadcastGradientArgs(s0=tf.constant([3, 2]), s1=tf.constant([2]))",
    "r.BroadcastGradientArgs(s0=tf.constant([1]), s1=tf.constant([4, 5, 1]))",
    "r.BroadcastGradientArgs(s0=tf.constant([], tf.int32), s1=tf.constant([2]))",
    "r.BroadcastArgs(s0=tf.constant([3, 1]), s1=tf.constant([1, 4]))",
    "r.IgammaGradA(a=[0.5, 2.0], x=[0.7, 3.0])",
    "r.RandomGammaGrad(alpha=[0.5, 2.0], sample=[0.7, 3.0])",
    "r.AdjustContrastv2(images=image, contrast_factor=0.5)",
    "r.AdjustHue(images=image, delta=0.1)",
    "r.AdjustSaturation(images=image, scale=0.5)",
    "r.AvgPool3D(input=image[None], ksize=[1, 1, 2, 2, 1], strides=[1, 1, 2, 2, 1],"
    " padding='VALID')",
    "r.BesselI0(x=[0.5]); r.BesselJ1(x=[0.5]); r.BesselK0e(x=[0.5])",
    "r.ConjugateTranspose(x=tf.constant([[1 + 2j, 3j]]), perm=[1, 0])",
    "r.Cross(a=[1.0, 0.0, 0.0], b=[0.0, 1.0, 0.0])",
    "r.Diag(diagonal=[1.0, 2.0]), r.DiagPart(input=matrix)",
    "r.DynamicStitch(indices=[[0], [1]], data=[[[1.0]], [[2.0]]])",
    "r.Empty(shape=[2], dtype=tf.int32, init=True)",
    "r.Expint(x=[0.5]), r.Dawsn(x=[0.5]), r.Spence(x=[0.5]), r.FresnelCos(x=[0.5])",
    "r.ExtractImagePatches(images=image, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1],"
    " rates=[1, 1, 1, 1], padding='VALID')",
    "r.FFT2D(input=tf.cast(matrix, tf.complex64))",
    "r.IRFFT(input=tf.constant([3 + 0j, -1 + 0.5j], tf.complex64), fft_length=[2])",
    "r.RFFT(input=[1.0, 2.0, 3.0, 4.0], fft_length=[4])",
    "r.HistogramFixedWidth(values=[0.1, 0.9], value_range=[0.0, 1.0], nbins=2)",
    "r.InTopK(predictions=[[0.1, 0.9]], targets=[1], k=1)",
    "r.LeakyReluGrad(gradients=[1.0, 1.0], features=[-1.0, 2.0])",
    "r.SeluGrad(gradients=[1.0, 1.0], outputs=[-1.0, 2.0])",
    "r.SoftsignGrad(gradients=[1.0, 1.0], features=[-1.0, 2.0])",
    "r.ListDiff(x=[1, 2, 3, 4], y=[2, 4])",
    "r.LowerBound(sorted_inputs=[[1, 3, 5]], values=[[3, 4]]),"
    " r.UpperBound(sorted_inputs=[[1, 3, 5]], values=[[3, 4]])",
    "r.MatrixDiagPartV2(input=matrix, k=0, padding_value=0.0)",
    "r.MatrixSolveLs(matrix=matrix, rhs=tf.ones([2, 1]),"
    " l2_regularizer=tf.constant(0.0, tf.float64))",
    "r.NonMaxSuppressionV3("
    "boxes=[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]],"
    " scores=[0.9, 0.8, 0.7], max_output_size=3, iou_threshold=0.5, score_threshold=0.0)",
    "r.NthElement(input=[[3.0, 1.0, 2.0]], n=1),"
    " r.NthElement(input=[[3.0, 1.0, 2.0]], n=0, reverse=True)",
    "r.Reverse(tensor=[[1, 2], [3, 4]], dims=[False, True])",
    "r.ReduceJoin(inputs=[['a', 'b']], reduction_indices=[1], separator='-')",
    "r.SparseReorder(input_indices=np.array([[1, 0], [0, 1]]), input_values=[1.0, 2.0],"
    " input_shape=np.array([2, 2]))",
    "r.SparseSegmentMean(data=[[1.0], [3.0]], indices=[0, 1], segment_ids=[0, 0])",
    "r.SparseTensorDenseMatMul(a_indices=np.array([[0, 1]]), a_values=[2.0],"
    " a_shape=np.array([2, 2]), b=matrix)",
    "r.SparseToDense(sparse_indices=[0, 2], output_shape=[3], sparse_values=[5, 6],"
    " default_value=0)",
    "r.UnravelIndex(indices=[5], dims=[2, 3])",
    "r.UnsortedSegmentJoin(inputs=['a', 'b', 'c'], segment_ids=[0, 1, 0], num_segments=2)",
    "r.RGBToHSV(images=image), r.HSVToRGB(images=image)",
    "r.LRN(input=image)",
] + [
    f"v = tf.Variable([1.0, 2.0]); {slots}; r.ResourceApply{step}(var=v.handle, {arguments},"
    " grad=[0.5, -1.0]); [v, *s]"
    for step, slots, arguments in [
        ("KerasMomentum", "s = [tf.Variable([0.1, 0.2])]",
         "accum=s[0].handle, lr=0.1, momentum=0.9, use_nesterov=True"),
        ("Momentum", "s = [tf.Variable([0.1, 0.2])]",
         "accum=s[0].handle, lr=0.1, momentum=0.9, use_nesterov=True"),
        ("AdagradV2", "s = [tf.Variable([0.1, 0.2])]", "accum=s[0].handle, lr=0.1, epsilon=1e-3"),
        ("Adadelta", "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4])]",
         "accum=s[0].handle, accum_update=s[1].handle, lr=0.1, rho=0.9, epsilon=1e-3"),
        ("RMSProp", "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4])]",
         "ms=s[0].handle, mom=s[1].handle, lr=0.1, rho=0.9, momentum=0.8, epsilon=1e-3"),
        ("CenteredRMSProp",
         "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4]), tf.Variable([0.0, 0.1])]",
         "mg=s[0].handle, ms=s[1].handle, mom=s[2].handle, lr=0.1, rho=0.9, momentum=0.8,"
         " epsilon=1e-3"),
        ("Adam", "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4])]",
         "m=s[0].handle, v=s[1].handle, beta1_power=0.81, beta2_power=0.98, lr=0.1, beta1=0.9,"
         " beta2=0.99, epsilon=1e-3, use_nesterov=True"),
        ("AdamWithAmsgrad",
         "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4]), tf.Variable([0.5, 0.1])]",
         "m=s[0].handle, v=s[1].handle, vhat=s[2].handle, beta1_power=0.81, beta2_power=0.98,"
         " lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-3"),
        ("AdaMax", "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4])]",
         "m=s[0].handle, v=s[1].handle, beta1_power=0.81, lr=0.1, beta1=0.9, beta2=0.99,"
         " epsilon=1e-3"),
        ("FtrlV2", "s = [tf.Variable([0.1, 0.2]), tf.Variable([0.3, 0.4])]",
         "accum=s[0].handle, linear=s[1].handle, lr=0.1, l1=0.05, l2=0.1, l2_shrinkage=0.2,"
         " lr_power=-0.5"),
    ]
] + [
    "v = tf.Variable([[1.0], [2.0], [3.0]]); m = tf.Variable(v * 0.1);"
    " r.ResourceSparseApplyKerasMomentum(var=v.handle, accum=m.handle, lr=0.1,"
    " grad=[[0.5], [1.0]], indices=[2, 0], momentum=0.9); v, m",
    "v = tf.Variable([[1.0], [2.0], [3.0]]); m = tf.Variable(v * 0.1);"
    " r.ResourceSparseApplyAdagradV2(var=v.handle, accum=m.handle, lr=0.1, epsilon=1e-3,"
    " grad=[[0.5], [1.0]], indices=[2, 0]); v, m",
    "v = tf.Variable([1.0, 2.0]); r.ResourceApplyGradientDescent(var=v.handle, alpha=0.5,"
    " delta=[1.0, 2.0]); v",
    "v = tf.Variable([[1.0], [2.0]]); r.ResourceScatterAdd(resource=v.handle, indices=[1, 1],"
    " updates=[[1.0], [5.0]]); v",
    "v = tf.Variable([1.0, 2.0]); r.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0]);"
    " r.ReadVariableOp(resource=v.handle, dtype=tf.float32)",
]  # fmt: skip


_PREPARED = dict.fromkeys([*CALLS, *raw_op_calls_more.CALLS], SETUP + raw_op_calls_more.SETUP)
for _part in (
    raw_op_calls_control, raw_op_calls_messages, raw_op_calls_objects, raw_op_calls_updates
):  # fmt: skip
    _PREPARED.update(dict.fromkeys(_part.CALLS, _part.SETUP))
CALLS = list(_PREPARED)


def run(tf, np, source):
    """What a call gives: nested lists of numbers."""
    scope = {"tf": tf, "np": np, "r": tf.raw_ops}
    exec(_PREPARED[source], scope)
    *statements, expression = source.split("; ")
    for statement in statements:
        exec(statement, scope)
    return plain(np, eval(expression, scope))


def plain(np, value):
    if isinstance(value, (list, tuple)):
        return [plain(np, item) for item in value]
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype == object or array.dtype.kind == "S":
        return np.vectorize(lambda item: item.decode(), otypes=[object])(array).tolist()
    if array.dtype.kind == "c":
        return [array.real.tolist(), array.imag.tolist()]
    return array.tolist()
