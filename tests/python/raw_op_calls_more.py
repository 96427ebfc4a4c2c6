"""More calls of ``tf.raw_ops``: gradients, sparse and ragged parts, images. See raw_op_calls.py."""

SETUP = """
image = tf.constant(np.arange(2 * 4 * 4 * 3).reshape(2, 4, 4, 3) / 96.0, tf.float32)
matrix = tf.constant([[4.0, 1.0], [1.0, 3.0]])
kernel = tf.constant(np.arange(2 * 2 * 3 * 2).reshape(2, 2, 3, 2) / 24.0, tf.float32)
volume = tf.constant(np.arange(1 * 2 * 3 * 3 * 1).reshape(1, 2, 3, 3, 1) / 18.0, tf.float32)
boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]])
places = np.array([[0, 1], [1, 0], [1, 2]])
shape = np.array([2, 3])
"""

CALLS = [
    "r.AudioSpectrogram(input=tf.reshape(tf.range(12.0), [6, 2]), window_size=4, stride=2)",
    "r.AudioSpectrogram(input=tf.reshape(tf.range(12.0), [12, 1]), window_size=5, stride=2,"
    " magnitude_squared=True)",
    "r.AvgPoolGrad(orig_input_shape=[2, 4, 4, 3], grad=image[:, :2, :2], ksize=[1, 2, 2, 1],"
    " strides=[1, 2, 2, 1], padding='VALID')",
    "r.AvgPool3DGrad(orig_input_shape=[1, 2, 3, 3, 1], grad=volume[:, :1, :2, :2],"
    " ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')",
    "r.MaxPoolGrad(orig_input=image, orig_output=image[:, 1::2, 1::2], grad=image[:, :2, :2],"
    " ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')",
    "r.MaxPoolGradV2(orig_input=image, orig_output=image[:, 1::2, 1::2], grad=image[:, :2, :2],"
    " ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')",
    "r.MaxPool3DGrad(orig_input=volume, orig_output=volume[:, 1:, 1:, 1:],"
    " grad=volume[:, :1, :2, :2], ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1],"
    " padding='VALID')",
    "r.MaxPoolV2(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')",
    "r.MaxPoolWithArgmax(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')",
    "r.Svd(input=matrix, compute_uv=False)[0], r.Eig(input=matrix, Tout=tf.complex64,"
    " compute_v=False)[0]",
    "r.BatchToSpace(input=tf.reshape(tf.range(8.0), [4, 1, 2, 1]), crops=[[0, 0], [1, 0]],"
    " block_size=2)",
    "r.SpaceToBatch(input=tf.reshape(tf.range(16.0), [1, 4, 4, 1]), paddings=[[0, 0], [0, 0]],"
    " block_size=2)",
    "r.Bincount(arr=[1, 1, 4], size=5, weights=tf.zeros([0])), r.Bincount(arr=[[1, 1], [2, 7]],"
    " size=4, weights=[[1.0, 2.0], [3.0, 4.0]])",
    "r.DenseBincount(input=[1, 1, 4], size=5, weights=tf.zeros([0], tf.int32))",
    "r.DenseBincount(input=[[1, 1], [2, 0]], size=3, weights=tf.zeros([0]), binary_output=True)",
    "r.RaggedBincount(splits=np.array([0, 2, 3]), values=[1, 1, 2], size=3,"
    " weights=tf.zeros([0]))",
    "r.SparseBincount(indices=places, values=[1, 1, 2], dense_shape=shape, size=4,"
    " weights=[1.0, 2.0, 3.0])",
    "r.DenseCountSparseOutput(values=[[1, 1, 4], [2, 2, 2]], weights=tf.zeros([0]),"
    " binary_output=False)",
    "r.SparseCountSparseOutput(indices=places, values=[1, 1, 2], dense_shape=shape,"
    " weights=[1.0, 2.0, 3.0], binary_output=False)",
    "r.RaggedCountSparseOutput(splits=np.array([0, 2, 3]), values=[1, 1, 2],"
    " weights=tf.zeros([0], tf.int64), binary_output=True)",
    "r.CholeskyGrad(l=tf.linalg.cholesky(matrix), grad=matrix)",
    "r.CombinedNonMaxSuppression(boxes=tf.clip_by_value(boxes, 0.0, 1.0)[None, :, None],"
    " scores=[[[0.9], [0.8], [0.3]]], max_output_size_per_class=2, max_total_size=2,"
    " iou_threshold=0.5, score_threshold=0.1)",
    "r.ConcatOffset(concat_dim=1, shape=[[2, 3], [2, 4], [2, 5]])",
    "r.Conv2DBackpropFilter(input=image, filter_sizes=[2, 2, 3, 2],"
    " out_backprop=image[:, :3, :3, :2], strides=[1, 1, 1, 1], padding='VALID')",
    "r.Conv3DBackpropFilterV2(input=volume, filter_sizes=[2, 2, 2, 1, 1],"
    " out_backprop=volume[:, :1, :2, :2], strides=[1, 1, 1, 1, 1], padding='VALID')",
    "r.Conv3DBackpropInputV2(input_sizes=[1, 2, 3, 3, 1], filter=tf.ones([2, 2, 2, 1, 1]),"
    " out_backprop=volume[:, :1, :2, :2], strides=[1, 1, 1, 1, 1], padding='VALID')",
    "r.CropAndResize(image=image, boxes=[[0.0, 0.0, 0.5, 1.0]], box_ind=[1], crop_size=[2, 3])",
    "r.CropAndResizeGradBoxes(grads=tf.ones([1, 2, 3, 3]), image=image,"
    " boxes=[[0.1, 0.2, 0.5, 0.9]], box_ind=[1])",
    "r.CropAndResizeGradImage(grads=tf.ones([1, 2, 3, 3]), boxes=[[0.1, 0.2, 0.5, 0.9]],"
    " box_ind=[1], image_size=[2, 4, 4, 3], T=tf.float32)",
    "r.DecodeCSV(records=['1,a', '2,b'], record_defaults=[[0], ['']], select_cols=[])",
    "r.DecodePaddedRaw(input_bytes=[b'\\x01\\x02', b'\\x03'], fixed_length=4, out_type=tf.uint8)",
    "r.DenseToDenseSetOperation(set1=[[1, 2, 3]], set2=[[2, 5, 5]], set_operation='union')",
    "r.DenseToSparseSetOperation(set1=[[1, 2, 3], [4, 5, 6]], set2_indices=places,"
    " set2_values=[2, 4, 9], set2_shape=shape, set_operation='a-b')",
    "r.SparseToSparseSetOperation(set1_indices=places, set1_values=[1, 2, 3], set1_shape=shape,"
    " set2_indices=places, set2_values=[1, 5, 3], set2_shape=shape, set_operation='intersection')",
    "r.SetSize(set_indices=places, set_values=[1, 2, 2], set_shape=shape)",
    "r.DepthwiseConv2dNativeBackpropFilter(input=image, filter_sizes=[2, 2, 3, 1],"
    " out_backprop=image[:, :3, :3], strides=[1, 1, 1, 1], padding='VALID')",
    "r.DepthwiseConv2dNativeBackpropInput(input_sizes=[2, 4, 4, 3], filter=kernel[..., :1],"
    " out_backprop=image[:, :3, :3], strides=[1, 1, 1, 1], padding='VALID')",
    "r.Dilation2D(input=image, filter=kernel[..., 0], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],"
    " padding='VALID')",
    "r.Dilation2DBackpropFilter(input=image, filter=kernel[..., 0],"
    " out_backprop=image[:, :3, :3], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')",
    "r.Dilation2DBackpropInput(input=image, filter=kernel[..., 0],"
    " out_backprop=image[:, :3, :3], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')",
    "r.DrawBoundingBoxesV2(images=image, boxes=[[[0.0, 0.0, 0.5, 0.5]]] * 2,"
    " colors=[[1.0, 0.0, 0.0]])",
    "r.EditDistance(hypothesis_indices=np.array([[0, 0], [0, 1]]), hypothesis_values=[1, 2],"
    " hypothesis_shape=np.array([1, 2]), truth_indices=np.array([[0, 0]]), truth_values=[1],"
    " truth_shape=np.array([1, 1]), normalize=False)",
    "r.EluGrad(gradients=[1.0, 2.0], outputs=[-0.5, 2.0])",
    "r.SoftplusGrad(gradients=[1.0, 2.0], features=[-0.5, 2.0])",
    "r.InvGrad(y=[0.5, 2.0], dy=[1.0, 3.0]), r.ReciprocalGrad(y=[0.5, 2.0], dy=[1.0, 3.0])",
    "r.ExtractGlimpse(input=image, size=[2, 2], offsets=[[0.1, 0.2], [-0.3, 0.4]])",
    "r.FakeQuantWithMinMaxArgs(inputs=[-7.0, 0.13, 3.3])",
    "r.FakeQuantWithMinMaxVars(inputs=[-7.0, 0.13, 3.3], min=-2.0, max=2.0, num_bits=4)",
    "r.FakeQuantWithMinMaxVarsGradient(gradients=[1.0, 2.0, 3.0], inputs=[-7.0, 0.13, 3.3],"
    " min=-2.0, max=2.0)",
    "r.Fingerprint(data=['ab', 'c'], method='farmhash64')",
    "r.FusedBatchNormGradV3(y_backprop=image, x=image * image, scale=[1.0, 2.0, 3.0],"
    " reserve_space_1=[0.1, 0.2, 0.3], reserve_space_2=[1.0, 2.0, 3.0],"
    " reserve_space_3=[0.0], is_training=False)[:3]",
    "r.GuaranteeConst(input=[1.0])",
    "r.ImageProjectiveTransformV2(images=image, transforms=[[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0,"
    " 0.0]], output_shape=[4, 4], interpolation='NEAREST')",
    "r.IsotonicRegression(input=[[3.0, 1.0, 2.0, 0.0]])",
    "r.LRNGrad(input_grads=image, input_image=image, output_image=r.LRN(input=image))",
    "r.MatrixDiagV2(diagonal=[[1.0, 2.0], [3.0, 4.0]], k=[-1, 0], num_rows=-1, num_cols=-1,"
    " padding_value=9.0)",
    "r.MatrixSetDiagV3(input=matrix, diagonal=[8.0], k=1)",
    "r.MirrorPadGrad(input=tf.reshape(tf.range(12.0), [3, 4]), paddings=[[1, 0], [1, 1]],"
    " mode='REFLECT')",
    "r.NonMaxSuppression(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=3)",
    "r.NonMaxSuppressionV4(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=3,"
    " iou_threshold=0.5, score_threshold=0.0, pad_to_max_output_size=True)",
    "r.NonMaxSuppressionV5(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=3,"
    " iou_threshold=0.5, score_threshold=0.0, soft_nms_sigma=0.5)",
    "r.NonMaxSuppressionV5(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=3,"
    " iou_threshold=0.5, score_threshold=0.0, soft_nms_sigma=0.0, pad_to_max_output_size=True)",
    "r.PopulationCount(x=tf.constant([0, 1, 255, -1], tf.int16))",
    "r.RaggedGather(params_nested_splits=[np.array([0, 2, 3])], params_dense_values=[1, 2, 3],"
    " indices=[1, 0], OUTPUT_RAGGED_RANK=1)",
    "r.RaggedRange(starts=[0, 5], limits=[3, 8], deltas=[1, 2])",
    "r.RaggedTensorToSparse(rt_nested_splits=[np.array([0, 2, 3])], rt_dense_values=[1, 2, 3])",
    "r.ResizeArea(images=image, size=[2, 3])",
    "r.ResizeBicubic(images=image, size=[3, 5])",
    "r.ResizeBicubicGrad(grads=tf.ones([2, 3, 5, 3]) * 0.5, original_image=image)",
    "r.ResizeBilinearGrad(grads=tf.ones([2, 3, 5, 3]) * 0.5, original_image=image)",
    "r.ResizeNearestNeighborGrad(grads=tf.ones([2, 3, 5, 3]), size=[4, 4])",
    "r.ScatterNdNonAliasingAdd(input=[1.0, 2.0], indices=[[1]], updates=[5.0])",
    "r.ShardedFilename(basename='a', shard=3, num_shards=12)",
    "r.ShardedFilespec(basename='a', num_shards=12)",
    "r.SparseAdd(a_indices=places, a_values=[1.0, 2.0, 3.0], a_shape=shape,"
    " b_indices=places[:2], b_values=[-1.0, 5.0], b_shape=shape, thresh=0.5)",
    "r.SparseAddGrad(backprop_val_grad=[7.0, 8.0], a_indices=places, b_indices=places[:2],"
    " sum_indices=places[1:])",
    "r.SparseConcat(indices=[places, places], values=[[1, 2, 3], [4, 5, 6]],"
    " shapes=[shape, shape], concat_dim=1)",
    "r.SparseSplit(split_dim=np.int64(1), indices=places, values=[1, 2, 3], shape=shape,"
    " num_split=3)[1]",
    "r.SparseDenseCwiseAdd(sp_indices=places, sp_values=[1.0, 2.0, 3.0], sp_shape=shape,"
    " dense=[[1.0], [2.0]])",
    "r.SparseDenseCwiseMul(sp_indices=places, sp_values=[1.0, 2.0, 3.0], sp_shape=shape,"
    " dense=[1.0, 2.0, 3.0]), r.SparseDenseCwiseDiv(sp_indices=places,"
    " sp_values=[1.0, 2.0, 3.0], sp_shape=shape, dense=4.0)",
    "r.SparseFillEmptyRows(indices=np.array([[3, 1], [0, 1], [0, 0]]), values=[1, 2, 3],"
    " dense_shape=np.array([5, 3]), default_value=9)",
    "r.SparseMatMul(a=matrix, b=matrix, transpose_b=True)",
    "r.SparseReduceMax(input_indices=places, input_values=[1.0, 2.0, 3.0], input_shape=shape,"
    " reduction_axes=[1])",
    "r.SparseReduceSum(input_indices=places, input_values=[1.0, 2.0, 3.0], input_shape=shape,"
    " reduction_axes=[0], keep_dims=True)",
    "r.SparseReduceSumSparse(input_indices=places, input_values=[1.0, 2.0, 3.0],"
    " input_shape=shape, reduction_axes=[1])",
    "r.SparseReshape(input_indices=places, input_shape=shape, new_shape=np.array([3, -1]))",
    "r.SparseSegmentMeanGrad(grad=[[1.0], [2.0]], indices=[0, 2, 2], segment_ids=[0, 0, 1],"
    " output_dim0=4)",
    "r.SparseSegmentSqrtNGrad(grad=[[1.0], [2.0]], indices=[0, 2, 2], segment_ids=[0, 0, 1],"
    " output_dim0=4)",
    "r.SparseSegmentSumGrad(grad=[[1.0], [2.0]], indices=[0, 2, 2], segment_ids=[0, 0, 1],"
    " output_dim0=4)",
    "r.SparseSliceGrad(backprop_val_grad=[5.0], input_indices=places, input_start=np.array([1, 1]),"
    " output_indices=np.array([[0, 1]]))",
    "r.SparseSoftmax(sp_indices=places, sp_values=[1.0, 2.0, 3.0], sp_shape=shape)",
    "r.SparseSparseMaximum(a_indices=places, a_values=[1.0, -2.0, 3.0], a_shape=shape,"
    " b_indices=places[1:], b_values=[4.0, 5.0], b_shape=shape)",
    "r.SparseTensorDenseAdd(a_indices=places, a_values=[1.0, 2.0, 3.0], a_shape=shape,"
    " b=tf.ones([2, 3]))",
    "r.StaticRegexFullMatch(input=['ab', 'b'], pattern='a.*'),"
    " r.StaticRegexReplace(input=['ab', 'b'], pattern='b', rewrite='x')",
    "r.StringFormat(inputs=[1, 'a'], template='%s and %s')",
    "r.StringNGrams(data=['a', 'b', 'c'], data_splits=np.array([0, 3]), separator=' ',"
    " ngram_widths=[2], left_pad='', right_pad='', pad_width=0, preserve_short_sequences=False)",
    "r.StringSplit(input=['a b', 'c'], delimiter=' ')",
    "r.StringSplitV2(input=['a,b', 'c'], sep=',')",
    "r.TridiagonalMatMul(superdiag=[[1.0, 2.0, 0.0]], maindiag=[[1.0, 2.0, 3.0]],"
    " subdiag=[[0.0, 4.0, 5.0]], rhs=[[1.0], [2.0], [3.0]])",
    "r.TridiagonalSolve(diagonals=[[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]],"
    " rhs=[[1.0], [2.0], [3.0]])",
    "r.UnicodeDecode(input=['aé', 'b'], input_encoding='UTF-8')",
    "r.UnicodeDecodeWithOffsets(input=['aé', 'b'], input_encoding='UTF-8')",
    "r.UnicodeEncode(input_values=[97, 233, 98], input_splits=np.array([0, 2, 3]),"
    " output_encoding='UTF-8')",
    "r.QuantizeAndDequantizeV2(input=[-0.7, 0.13, 0.9], input_min=0.0, input_max=0.0)",
    "r.QuantizeAndDequantizeV2(input=[-0.7, 0.13, 0.9], input_min=-0.5, input_max=0.5,"
    " range_given=True, num_bits=4, narrow_range=True)",
    "r.QuantizeAndDequantizeV2(input=[0.1, 0.13, 0.9], input_min=0.0, input_max=1.0,"
    " range_given=True, signed_input=False, round_mode='HALF_UP')",
    "r.QuantizeAndDequantizeV3(input=[[-0.7, 0.13], [0.9, 0.2]], input_min=[-1.0, -2.0],"
    " input_max=[1.0, 1.0], num_bits=5, axis=1)",
    "r.RaggedFillEmptyRows(value_rowids=np.array([0, 0, 3]), values=[1, 2, 3],"
    " nrows=np.int64(5), default_value=9)",
    "r.RaggedFillEmptyRowsGrad(reverse_index_map=np.array([0, 1, 4]),"
    " grad_values=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])",
    "r.ApproxTopK(input=[[1.0, 3.0, 2.0]], k=2)",
]  # fmt: skip
