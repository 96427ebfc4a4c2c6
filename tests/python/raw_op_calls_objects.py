"""More calls of ``tf.raw_ops``: tables, queues, readers, lists, datasets, behind handles. See
raw_op_calls.py."""

SETUP = """
def table(keys, values, make=tf.raw_ops.HashTableV2, **more):
    keys, values = tf.constant(keys), tf.constant(values)
    made = make(key_dtype=keys.dtype, value_dtype=values.dtype, **more)
    fill = (r.InitializeTableV2 if make in (r.HashTableV2, r.AnonymousHashTable)
            else r.LookupTableInsertV2)
    fill(table_handle=made, keys=keys, values=values)
    return made


def numbers(*count):
    return r.RangeDataset(start=0, stop=count[0], step=1, output_types=[tf.int64],
                          output_shapes=[[]])


def rows(dataset, count=100, types=(tf.int64,)):
    shapes = [None] * len(types)
    iterator = r.AnonymousIteratorV3(output_types=list(types), output_shapes=shapes)
    r.MakeIterator(dataset=dataset, iterator=iterator)
    found = []
    try:
        for _ in range(count):
            found.append(r.IteratorGetNext(iterator=iterator, output_types=list(types),
                                           output_shapes=shapes))
    except tf.errors.OutOfRangeError:
        pass
    return found


def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


N = tf.TensorSpec([], tf.int64)
OUT = dict(output_types=[tf.int64], output_shapes=[[]])
ROWS = dict(output_types=[tf.int64], output_shapes=[[None]])


def raised(function, **given):
    try:
        return function(**given)
    except Exception as error:
        return type(error).__name__


def texts(name, *lines):
    import os, tempfile
    path = os.path.join(tempfile.mkdtemp(), name)
    with open(path, "w") as file:
        file.write("".join(line + chr(10) for line in lines))
    return path
"""

_LIST = "l = r.TensorListFromTensor(tensor=[[1.0, 2.0], [3.0, 4.0]], element_shape=[2]); "
_FLOATS = "element_shape=[2], element_dtype=tf.float32"

CALLS = [
    # --- tables
    "t = table(['a', 'b'], [1, 2]);"
    " r.LookupTableFindV2(table_handle=t, keys=[['b', 'x']], default_value=-1)",
    "t = table(['a', 'b'], [1, 2]); r.LookupTableSizeV2(table_handle=t)",
    "t = table(np.array([3]), [[1.0, 2.0]], r.MutableHashTableOfTensorsV2, value_shape=[2]);"
    " r.LookupTableInsertV2(table_handle=t, keys=np.array([5]), values=[[3.0, 4.0]]);"
    " r.LookupTableFindV2(table_handle=t, keys=np.array([5, 4]), default_value=[0.0, 9.0])",
    "t = table(np.array([3, 4]), ['x', 'y'], r.MutableHashTableV2);"
    " r.LookupTableRemoveV2(table_handle=t, keys=np.array([3]));"
    " r.LookupTableExportV2(table_handle=t, Tkeys=tf.int64, Tvalues=tf.string)",
    "t = table(np.array([3, 4]), [1, 2], r.AnonymousMutableHashTable);"
    " r.LookupTableImportV2(table_handle=t, keys=np.array([8]), values=[7]);"
    " r.LookupTableExportV2(table_handle=t, Tkeys=tf.int64, Tvalues=tf.int32)",
    "t = r.MutableDenseHashTableV2(empty_key=np.int64(0), deleted_key=np.int64(-1),"
    " value_dtype=tf.float32); r.LookupTableInsertV2(table_handle=t, keys=np.array([3, 4]),"
    " values=[1.0, 2.0]); r.LookupTableFindV2(table_handle=t, keys=np.array([4, 5]),"
    " default_value=-1.0)",
    "t = r.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64);"
    " r.InitializeTableFromTextFileV2(table_handle=t, filename=texts('v', 'one', 'two'),"
    " key_index=-2, value_index=-1); r.LookupTableFindV2(table_handle=t, keys=['two', 'x'],"
    " default_value=np.int64(-1))",
    "a = r.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name='shared');"
    " b = r.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name='shared');"
    " r.LookupTableInsertV2(table_handle=a, keys=np.array([1]), values=np.array([2]));"
    " r.LookupTableSizeV2(table_handle=b)",
    "raised(r.HashTable, key_dtype=tf.string, value_dtype=tf.int64), raised(r.VariableV2, shape=[],"
    " dtype=tf.float32), raised(r.InfeedDequeue, dtype=tf.float32, shape=[1]),"
    " raised(r.BatchCholesky, input=[[1.0]]), raised(r.CTCLossV2, inputs=[[[1.0]]],"
    " labels_indices=[[0, 0]], labels_values=[0], sequence_length=[1])",
    # --- queues and readers
    "q = r.FIFOQueueV2(component_types=[tf.float32, tf.int32]); r.QueueEnqueueV2(handle=q,"
    " components=[[1.0, 2.0], 3]); r.QueueSizeV2(handle=q), r.QueueDequeueV2(handle=q,"
    " component_types=[tf.float32, tf.int32])",
    "q = r.FIFOQueueV2(component_types=[tf.float32], shapes=[[]]); r.QueueEnqueueManyV2(handle=q,"
    " components=[[1.0, 2.0, 3.0]]); a = r.QueueDequeueManyV2(handle=q, n=2,"
    " component_types=[tf.float32]); r.QueueCloseV2(handle=q); a, r.QueueDequeueUpToV2(handle=q,"
    " n=5, component_types=[tf.float32]), r.QueueIsClosedV2(handle=q), raised(r.QueueDequeueV2,"
    " handle=q, component_types=[tf.float32])",
    "q = r.PriorityQueueV2(component_types=[tf.string], shapes=[[]]);"
    " r.QueueEnqueueV2(handle=q, components=[np.int64(3), 'late']);"
    " r.QueueEnqueueV2(handle=q, components=[np.int64(1), 'early']);"
    " r.QueueDequeueV2(handle=q, component_types=[tf.int64, tf.string])",
    "q = r.PaddingFIFOQueueV2(component_types=[tf.int32], shapes=[[-1]]);"
    " r.QueueEnqueueV2(handle=q, components=[[1]]); r.QueueEnqueueV2(handle=q,"
    " components=[[2, 3]]); r.QueueDequeueManyV2(handle=q, n=2, component_types=[tf.int32])",
    "q = r.FIFOQueueV2(component_types=[tf.string]); r.QueueEnqueueV2(handle=q,"
    " components=[texts('l', 'head', 'one', 'two')]);"
    " reader = r.TextLineReaderV2(skip_header_lines=1);"
    " a = r.ReaderReadV2(reader_handle=reader, queue_handle=q)[1];"
    " b = r.ReaderReadUpToV2(reader_handle=reader, queue_handle=q, num_records=1)[1];"
    " a, b, r.ReaderNumRecordsProducedV2(reader_handle=reader),"
    " r.ReaderNumWorkUnitsCompletedV2(reader_handle=reader)",
    "q = r.FIFOQueueV2(component_types=[tf.string]); r.QueueEnqueueV2(handle=q,"
    " components=[texts('l', 'ab', 'cd')]); reader = r.FixedLengthRecordReaderV2(record_bytes=3);"
    " r.ReaderReadV2(reader_handle=reader, queue_handle=q)[1]",
    # --- stacks, accumulators, locks
    "s = r.StackV2(max_size=2, elem_type=tf.float32); r.StackPushV2(handle=s, elem=[1.0]);"
    " r.StackPushV2(handle=s, elem=[2.0]); raised(r.StackPushV2, handle=s, elem=[2.0]),"
    " r.StackPopV2(handle=s, elem_type=tf.float32), r.StackPopV2(handle=s, elem_type=tf.float32),"
    " raised(r.StackPopV2, handle=s, elem_type=tf.float32)",
    "a = r.ResourceConditionalAccumulator(dtype=tf.float32, shape=[2]);"
    " r.ResourceAccumulatorApplyGradient(handle=a, local_step=np.int64(0), gradient=[1.0, 2.0]);"
    " r.ResourceAccumulatorApplyGradient(handle=a, local_step=np.int64(0), gradient=[3.0, 2.0]);"
    " n = r.ResourceAccumulatorNumAccumulated(handle=a); n,"
    " r.ResourceAccumulatorTakeGradient(handle=a, num_required=2, dtype=tf.float32),"
    " r.ResourceAccumulatorNumAccumulated(handle=a)",
    "m = r.MutexV2(); lock = r.MutexLock(mutex=m); r.ConsumeMutexLock(mutex_lock=lock); del lock;"
    " again = r.MutexLock(mutex=m); 1",
    # --- lists, maps, arrays
    _LIST + "r.TensorListStack(input_handle=l, element_shape=[2], element_dtype=tf.float32),"
    " r.TensorListLength(input_handle=l),"
    " r.TensorListElementShape(input_handle=l, shape_type=tf.int32)",
    _LIST + f"m = r.TensorListSetItem(input_handle=l, index=0, item=[9.0, 9.0]);"
    f" r.TensorListGetItem(input_handle=m, index=0, {_FLOATS}),"
    f" r.TensorListGetItem(input_handle=l, index=0, {_FLOATS}), raised(r.TensorListGetItem,"
    f" input_handle=l, index=5, {_FLOATS})",
    _LIST + "l = r.TensorListPushBack(input_handle=l, tensor=[5.0, 6.0]);"
    f" r.TensorListGather(input_handle=l, indices=[2, 0], {_FLOATS}),"
    f" r.TensorListPopBack(input_handle=l, {_FLOATS})[1]",
    _LIST + "l = r.TensorListResize(input_handle=l, size=3);"
    f" r.TensorListStack(input_handle=l, {_FLOATS})",
    _LIST + "both = r.TensorListConcatLists(input_a=l, input_b=l, element_dtype=tf.float32);"
    f" r.TensorListStack(input_handle=both, {_FLOATS})",
    "l = r.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.int32);"
    " r.TensorListStack(input_handle=l, element_shape=[2], element_dtype=tf.int32)",
    "l = r.TensorListSplit(tensor=[1.0, 2.0, 3.0], element_shape=[-1],"
    " lengths=np.array([1, 2])); r.TensorListConcatV2(input_handle=l, element_shape=[-1],"
    " leading_dims=np.array([], np.int64), element_dtype=tf.float32)",
    "l = r.TensorListScatterV2(tensor=[[1.0], [2.0]], indices=[2, 0], element_shape=[1],"
    " num_elements=4); r.TensorListStack(input_handle=l, element_shape=[1],"
    " element_dtype=tf.float32)",
    "m = r.EmptyTensorMap(); m = r.TensorMapInsert(input_handle=m, key=1.0, value=[2.0]);"
    " n = r.TensorMapErase(input_handle=m, key=1.0, value_dtype=tf.float32);"
    " r.TensorMapSize(input_handle=m), r.TensorMapSize(input_handle=n),"
    " r.TensorMapLookup(input_handle=m, key=1.0, value_dtype=tf.float32),"
    " r.TensorMapHasKey(input_handle=m, key=2.0),"
    " r.TensorMapStackKeys(input_handle=m, key_dtype=tf.float32)",
    "a, flow = r.TensorArrayV3(size=2, dtype=tf.float32); flow = r.TensorArrayWriteV3(handle=a,"
    " index=0, value=[1.0], flow_in=flow); flow = r.TensorArrayWriteV3(handle=a, index=1,"
    " value=[2.0], flow_in=flow); r.TensorArraySizeV3(handle=a, flow_in=flow),"
    " r.TensorArrayGatherV3(handle=a, indices=[1, 0], flow_in=flow, dtype=tf.float32)",
    "a, flow = r.TensorArrayV3(size=2, dtype=tf.float32); flow = r.TensorArrayScatterV3(handle=a,"
    " indices=[1, 0], value=[[1.0], [2.0]], flow_in=flow); r.TensorArrayReadV3(handle=a, index=0,"
    " flow_in=flow, dtype=tf.float32)",
    # --- datasets
    "rows(r.BatchDatasetV2(input_dataset=numbers(5), batch_size=np.int64(2),"
    " drop_remainder=False, **ROWS))",
    "rows(r.TakeDataset(input_dataset=r.SkipDataset(input_dataset=numbers(9), count=np.int64(2),"
    " **OUT), count=np.int64(3), **OUT))",
    "rows(r.RepeatDataset(input_dataset=numbers(2), count=np.int64(2), **OUT))",
    "rows(r.ConcatenateDataset(input_dataset=numbers(2), another_dataset=numbers(1), **OUT))",
    "rows(r.ShardDataset(input_dataset=numbers(7), num_shards=np.int64(3), index=np.int64(1),"
    " **OUT))",
    "rows(r.ZipDataset(input_datasets=[numbers(2), numbers(3)], output_types=[tf.int64] * 2,"
    " output_shapes=[[], []]), types=(tf.int64,) * 2)",
    "rows(r.MapDataset(input_dataset=numbers(3), other_arguments=[], f=traced(lambda x: x * 2, N),"
    " **OUT))",
    "rows(r.ParallelMapDatasetV2(input_dataset=numbers(3), other_arguments=[np.int64(7)],"
    " num_parallel_calls=np.int64(2), f=traced(lambda x, y: x * y, N, N), **OUT))",
    "rows(r.FilterDataset(input_dataset=numbers(6), other_arguments=[],"
    " predicate=traced(lambda x: x % 2 == 0, N), **OUT))",
    "rows(r.TakeWhileDataset(input_dataset=numbers(6), other_arguments=[],"
    " predicate=traced(lambda x: x < 3, N), **OUT))",
    "rows(r.ScanDataset(input_dataset=numbers(4), initial_state=[np.int64(0)],"
    " other_arguments=[], f=traced(lambda s, x: (s + x, s + x), N, N), **OUT))",
    "r.ReduceDataset(input_dataset=numbers(4), initial_state=[np.int64(1)], other_arguments=[],"
    " f=traced(lambda s, x: s + x, N, N), **OUT)",
    "rows(r.TensorSliceDataset(components=[[1, 2], ['a', 'b']], output_shapes=[[], []]),"
    " types=(tf.int32, tf.string))",
    "rows(r.TensorDataset(components=[[1, 2]], output_shapes=[[2]]), types=(tf.int32,))",
    "rows(r.UnbatchDataset(input_dataset=r.TensorDataset(components=[[1, 2]],"
    " output_shapes=[[2]]), output_types=[tf.int32], output_shapes=[[]]), types=(tf.int32,))",
    "rows(r.UniqueDataset(input_dataset=r.TensorSliceDataset(components=[[1, 2, 1]],"
    " output_shapes=[[]]), output_types=[tf.int32], output_shapes=[[]]), types=(tf.int32,))",
    "rows(r.PaddedBatchDatasetV2(input_dataset=r.TensorSliceDataset(components=[[[1], [2]]],"
    " output_shapes=[[1]]), batch_size=np.int64(2), padded_shapes=[np.array([2])],"
    " padding_values=[7], drop_remainder=False, output_shapes=[[None, 2]]), types=(tf.int32,))",
    "rows(r.TextLineDataset(filenames=texts('l', 'one', 'two'), compression_type='',"
    " buffer_size=np.int64(0)), types=(tf.string,))",
    "rows(r.CacheDataset(input_dataset=r.PrefetchDataset(input_dataset=numbers(3),"
    " buffer_size=np.int64(1), **OUT), filename='', **OUT))",
    "rows(r.SlidingWindowDataset(input_dataset=numbers(5), window_size=np.int64(3),"
    " window_shift=np.int64(1), window_stride=np.int64(1), **ROWS))",
    "rows(r.ShuffleDatasetV3(input_dataset=numbers(1), buffer_size=np.int64(5), seed=np.int64(1),"
    " seed2=np.int64(2), seed_generator=r.DummySeedGenerator(), **OUT))",
    "rows(r.ExperimentalUniqueDataset(input_dataset=numbers(2), **OUT)),"
    " rows(r.ModelDataset(input_dataset=numbers(2), **OUT))",
    "r.DatasetCardinality(input_dataset=numbers(4)), r.DatasetToSingleElement(dataset=numbers(1),"
    " **OUT), r.GetElementAtIndex(dataset=numbers(4), index=np.int64(2), **OUT)",
    "o = r.OptionalFromValue(components=[[1, 2]]); r.OptionalHasValue(optional=o),"
    " r.OptionalGetValue(optional=o, output_types=[tf.int32], output_shapes=[[2]]),"
    " r.OptionalHasValue(optional=r.OptionalNone())",
    "i = r.AnonymousIteratorV3(**OUT); r.MakeIterator(dataset=numbers(1), iterator=i);"
    " r.OptionalHasValue(optional=r.IteratorGetNextAsOptional(iterator=i, **OUT)),"
    " r.OptionalHasValue(optional=r.IteratorGetNextAsOptional(iterator=i, **OUT)),"
    " raised(r.IteratorGetNext, iterator=i, **OUT)",
]  # fmt: skip
