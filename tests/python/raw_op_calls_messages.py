"""More calls of ``tf.raw_ops``: summaries, examples, sparse tensors as texts, gradients of pools.
See raw_op_calls.py."""

SETUP = """
def summary(text):
    found = tf.compat.v1.Summary.FromString(text.numpy())
    return [[v.tag, v.simple_value, v.histo.num, v.histo.sum, v.image.width, v.audio.sample_rate]
            for v in found.value]


def events(*steps):
    import glob, tempfile
    folder = tempfile.mkdtemp()
    writer = r.SummaryWriter()
    r.CreateSummaryFileWriter(writer=writer, logdir=folder, max_queue=10, flush_millis=1000,
                              filename_suffix='.x')
    for step in steps:
        step(writer)
    r.FlushSummaryWriter(writer=writer)
    r.CloseSummaryWriter(writer=writer)
    (file,) = glob.glob(folder + '/*')
    found = list(tf.compat.v1.train.summary_iterator(file))
    return [[e.step, [v.tag for v in e.summary.value]] for e in found if e.summary.value]


def example(**features):
    made = tf.train.Example()
    for key, values in features.items():
        if isinstance(values[0], str):
            made.features.feature[key].bytes_list.value.extend(v.encode() for v in values)
        elif isinstance(values[0], float):
            made.features.feature[key].float_list.value.extend(values)
        else:
            made.features.feature[key].int64_list.value.extend(values)
    return made.SerializeToString()


places = np.array([[0, 1], [1, 0], [1, 2]])
shape = np.array([2, 3])
examples = [example(a=[1, 2], b=[0.5]), example(a=[3])]
pooled = tf.constant(np.arange(32).reshape(1, 4, 4, 2) % 7 / 7.0, tf.float32)
pool = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
"""

CALLS = [
    "summary(r.ScalarSummary(tags=['a', 'b'], values=[1.0, 2.0]))",
    "summary(r.HistogramSummary(tag='h', values=[1.0, 2.0, 4.0]))",
    "summary(r.AudioSummaryV2(tag='s', tensor=tf.zeros([2, 8]), sample_rate=8000.0))",
    "summary(r.MergeSummary(inputs=[r.ScalarSummary(tags='a', values=1.0),"
    " r.ScalarSummary(tags='b', values=3.0)]))",
    "events(lambda w: r.WriteScalarSummary(writer=w, step=np.int64(3), tag='x', value=1.5),"
    " lambda w: r.WriteHistogramSummary(writer=w, step=np.int64(4), tag='h', values=[1.0]),"
    " lambda w: r.WriteRawProtoSummary(writer=w, step=np.int64(5),"
    " tensor=r.ScalarSummary(tags='raw', values=1.0)),"
    " lambda w: r.WriteSummary(writer=w, step=np.int64(6), tensor=[1.0], tag='t',"
    " summary_metadata=b''))",
    "r.ParseExampleV2(serialized=examples, names=tf.constant([], tf.string), sparse_keys=['a'],"
    " dense_keys=['b'], ragged_keys=tf.constant([], tf.string), dense_defaults=[[7.0]],"
    " num_sparse=1, sparse_types=[tf.int64], ragged_value_types=[], ragged_split_types=[],"
    " dense_shapes=[[1]])",
    "r.ParseExampleV2(serialized=examples, names=tf.constant([], tf.string),"
    " sparse_keys=tf.constant([], tf.string), dense_keys=tf.constant([], tf.string),"
    " ragged_keys=['a'], dense_defaults=[], num_sparse=0, sparse_types=[],"
    " ragged_value_types=[tf.int64], ragged_split_types=[tf.int32], dense_shapes=[])",
    "r.ParseExample(serialized=examples, names=tf.constant([], tf.string), sparse_keys=['a'],"
    " dense_keys=['b'], dense_defaults=[[7.0]], sparse_types=[tf.int64], dense_shapes=[[1]])",
    "r.ParseSingleExample(serialized=examples[0], dense_defaults=[[7.0]], num_sparse=1,"
    " sparse_keys=['a'], dense_keys=['b'], sparse_types=[tf.int64], dense_shapes=[[1]])",
    "s = r.SerializeSparse(sparse_indices=places, sparse_values=[1.0, 2.0, 3.0],"
    " sparse_shape=shape); s.shape.as_list(), r.DeserializeSparse(serialized_sparse=s,"
    " dtype=tf.float32)",
    "s = r.SerializeManySparse(sparse_indices=places, sparse_values=[1.0, 2.0, 3.0],"
    " sparse_shape=shape); s.shape.as_list(), r.DeserializeManySparse(serialized_sparse=s,"
    " dtype=tf.float32)",
    "r.SparseCrossV2(indices=[places], values=[['a', 'b', 'c']], shapes=[shape],"
    " dense_inputs=[[['x'], ['y']]], sep='-')",
    "r.SparseCross(indices=[places], values=[np.array([1, 2, 3])], shapes=[shape],"
    " dense_inputs=[np.array([[5], [6]])], hashed_output=True, num_buckets=100,"
    " hash_key=956888297470, out_type=tf.int64, internal_type=tf.int64)",
    "r.MaxPoolGradGrad(orig_input=pooled, orig_output=r.MaxPool(input=pooled, **pool),"
    " grad=pooled * 3, **pool)",
    "r.MaxPoolGradWithArgmax(input=pooled, grad=tf.ones([1, 2, 2, 2]),"
    " argmax=r.MaxPoolWithArgmax(input=pooled, **pool)[1], **pool)",
    "r.CTCLoss(inputs=np.log(np.full((3, 1, 3), 1 / 3, np.float32)),"
    " labels_indices=np.array([[0, 0], [0, 1]]), labels_values=[0, 1], sequence_length=[3])",
    "r.FusedPadConv2D(input=pooled, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],"
    " filter=tf.ones([3, 3, 2, 1]), mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID')",
    "r.RaggedTensorToTensor(shape=[2, 4], values=[1, 2, 3], default_value=0,"
    " row_partition_tensors=[np.array([0, 2, 3])], row_partition_types=['ROW_SPLITS'])",
    "r.RaggedTensorToTensor(shape=[-1, -1], values=[1, 2, 3], default_value=9,"
    " row_partition_tensors=[np.int64(3), np.array([0, 0, 2])],"
    " row_partition_types=['FIRST_DIM_SIZE', 'VALUE_ROWIDS'])",
    "r.DecodeJpeg(contents=r.EncodeJpegVariableQuality(images=tf.zeros([8, 8, 3], tf.uint8),"
    " quality=50))[0, 0]",
]  # fmt: skip
