"""More calls of ``tf.raw_ops``: functions, branches, cells, checkpoints, matrices. See
raw_op_calls.py."""

SETUP = """
def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


F = tf.TensorSpec([], tf.float32)
I = tf.TensorSpec([], tf.int32)
B = tf.TensorSpec([], tf.bool)
lstm = dict(
    cs_prev=np.full((2, 2), 0.5, np.float32), h_prev=np.full((2, 2), -0.25, np.float32),
    w=(np.arange(40).reshape(5, 8) / 40.0 - 0.5).astype(np.float32),
    wci=np.array([0.1, 0.2], np.float32), wcf=np.array([0.3, 0.1], np.float32),
    wco=np.array([0.2, 0.4], np.float32), b=(np.arange(8) / 8.0).astype(np.float32),
)
step = (np.arange(6).reshape(2, 3) / 6.0).astype(np.float32)
steps = (np.arange(18).reshape(3, 2, 3) / 18.0).astype(np.float32)
places = np.array([[0, 0], [0, 2], [1, 1]])


def csr():
    return r.SparseTensorToCSRSparseMatrix(indices=places, values=[1.0, 2.0, 3.0],
                                           dense_shape=np.array([2, 3]))


def stored():
    import tempfile
    prefix = tempfile.mkdtemp() + "/part"
    r.SaveV2(prefix=prefix, tensor_names=["b", "a"], shape_and_slices=["", ""],
             tensors=[[1.0, 2.0], 3])
    return prefix


def raised(function, **given):
    try:
        return function(**given)
    except Exception as error:
        return type(error).__name__
"""

CALLS = [
    "r.PartitionedCall(args=[2.0], Tout=[tf.float32], f=traced(lambda x: x * 3, F))",
    "r.StatefulPartitionedCall(args=[2.0, 3.0], Tout=[tf.float32], f=traced(lambda x, y: x * y,"
    " F, F))",
    "r.If(cond=True, input=[2.0], Tout=[tf.float32], then_branch=traced(lambda x: x + 1, F),"
    " else_branch=traced(lambda x: x - 1, F)), r.StatelessIf(cond=0, input=[2.0],"
    " Tout=[tf.float32], then_branch=traced(lambda x: x + 1, F),"
    " else_branch=traced(lambda x: x - 1, F))",
    "r.While(input=[0, 1.0], cond=traced(lambda i, x: i < 3, I, F),"
    " body=traced(lambda i, x: (i + 1, x * 2), I, F)), r.StatelessWhile(input=[0, 1.0],"
    " cond=traced(lambda i, x: i < 0, I, F), body=traced(lambda i, x: (i + 1, x * 2), I, F))",
    "r.ToBool(input=3.0), r.ToBool(input=''), r.ToBool(input=[0]), r.ToBool(input=0)",
    "r.Switch(data=[1.0], pred=True)[1], r.Switch(data=[1.0], pred=False)[0],"
    " r.Enter(data=1.0, frame_name='a'), r.Exit(data=2.0), r.LoopCond(input=True)",
    "r.CopyHost(input=[1.0]), r.Copy(input=[1.0]), r.DeepCopy(x=[1.0]),"
    " r.DebugGradientIdentity(input=[2.0])",
    "r.InplaceUpdate(x=[[1.0], [2.0]], i=[1], v=[[5.0]])",
    "r.ParallelConcat(values=[[[1.0]], [[2.0]]], shape=[2, 1])",
    "r.LSTMBlockCell(x=step, **lstm)",
    "r.LSTMBlockCell(x=step, use_peephole=True, cell_clip=0.4, forget_bias=0.5, **lstm)",
    "[part[:2] for part in r.BlockLSTM(seq_len_max=np.int64(2), x=steps, **lstm)]",
    "r.BlockLSTMV2(seq_len_max=np.int64(3), x=steps, use_peephole=True, **lstm)",
    "r.GRUBlockCell(x=step, h_prev=lstm['h_prev'], w_ru=lstm['w'][:, :4], w_c=lstm['w'][:, :2],"
    " b_ru=lstm['b'][:4], b_c=lstm['b'][:2])",
    "r.CSRSparseMatrixToDense(sparse_input=csr(), type=tf.float32),"
    " r.SparseMatrixNNZ(sparse_matrix=csr())",
    "r.CSRSparseMatrixToSparseTensor(sparse_matrix=csr(), type=tf.float32)",
    "r.CSRSparseMatrixComponents(csr_sparse_matrix=csr(), index=0, type=tf.float32)",
    "r.SparseMatrixMatMul(a=csr(), b=[[1.0], [2.0], [3.0]])",
    "r.SparseMatrixMatMul(a=csr(), b=[[1.0, 2.0], [2.0, 0.5]], transpose_a=True)",
    "r.CSRSparseMatrixToDense(sparse_input=r.SparseMatrixTranspose(input=csr(), type=tf.float32),"
    " type=tf.float32)",
    "r.CSRSparseMatrixToDense(sparse_input=r.SparseMatrixSparseMatMul(a=csr(), b=csr(),"
    " type=tf.float32, transpose_b=True), type=tf.float32)",
    "r.CSRSparseMatrixToDense(sparse_input=r.DenseToCSRSparseMatrix(dense_input=[[0.0, 2.0]],"
    " indices=np.array([[0, 1]])), type=tf.float32)",
    "r.RestoreV2(prefix=stored(), tensor_names=['a', 'b'], shape_and_slices=['', ''],"
    " dtypes=[tf.int32, tf.float32])",
    "p = stored(); raised(r.RestoreV2, prefix=p, tensor_names=['x'], shape_and_slices=[''],"
    " dtypes=[tf.int32]), raised(r.RestoreV2, prefix=p, tensor_names=['a'],"
    " shape_and_slices=[''], dtypes=[tf.float32]), raised(r.RestoreV2, prefix=p + 'x',"
    " tensor_names=['a'], shape_and_slices=[''], dtypes=[tf.int32])",
    "p = stored(); r.MergeV2Checkpoints(checkpoint_prefixes=[p], destination_prefix=p + '-all');"
    " r.RestoreV2(prefix=p + '-all', tensor_names=['b'], shape_and_slices=[''],"
    " dtypes=[tf.float32])",
    "r.StatelessRandomGetAlg(), r.StatelessRandomGetKeyCounter(seed=[1, 2])[0].shape.as_list(),"
    " r.StatelessRandomGetKeyCounter(seed=[1, 2])[1].shape.as_list()",
    "k, c = r.StatelessRandomGetKeyCounter(seed=[1, 2]); np.all(r.StatelessRandomUniformV2("
    "shape=[5], key=k, counter=c, alg=1).numpy() =="
    " tf.random.stateless_uniform([5], [1, 2]).numpy())",
    "k, c = r.StatelessRandomGetKeyCounter(seed=[1, 2]); np.all(r.StatelessRandomNormalV2("
    "shape=[5], key=k, counter=c, alg=1).numpy() =="
    " tf.random.stateless_normal([5], [1, 2]).numpy())",
    "k, c = r.StatelessRandomGetKeyCounter(seed=[1, 2]); np.sort(r.StatelessShuffle(value=[1, 2,"
    " 3], key=k, counter=c, alg=1).numpy())",
    "k, c = r.StatelessRandomGetKeyCounter(seed=[1, 2]); x = r.StatelessRandomUniformIntV2("
    "shape=[99], key=k, counter=c, alg=1, minval=3, maxval=5).numpy(); x.min(), x.max()",
    "v = tf.Variable(np.array([0, 0, 5])); x = r.StatefulStandardNormalV2(resource=v.handle,"
    " algorithm=np.int64(1), shape=[3]).numpy(); y = r.StatefulStandardNormalV2("
    "resource=v.handle, algorithm=np.int64(1), shape=[3]).numpy(); np.any(x == y), x.shape",
    "x = r.ParameterizedTruncatedNormal(shape=[2, 50], means=[0.0, 5.0], stdevs=[1.0, 1.0],"
    " minvals=[-1.0, 4.0], maxvals=[1.0, 6.0], seed=3).numpy(); np.abs(x - [[0], [5]]).max() <= 1,"
    " x.shape",
]  # fmt: skip
