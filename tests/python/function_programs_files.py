"""More of them: files as programs written for TensorFlow write and read them."""

import os
import tempfile
import zlib

from function_programs import error_of, program, tf

v1 = tf.compat.v1


@program
def files_that_are_read_and_written():
    folder, out = tempfile.mkdtemp(), []
    for mode in ("r+", "w+", "a+"):
        path = os.path.join(folder, "file" + mode)
        with tf.io.gfile.GFile(path, "w") as file:
            file.write("before\n")
        with tf.io.gfile.GFile(path, mode) as file:
            out.append(error_of(file.seek) or error_of(file.seek, 1, 0, 1))
            out.append(error_of(file.seek, 0, 3))
            file.write("one\ntwo\n")
            file.flush()
            out.append([file.readline(), file.tell(), file.readlines(), file.read()])
            file.seek(-4, 2)
            out.append([file.read(), file.size()])
    new = tf.io.gfile.GFile(os.path.join(folder, "new"), "r+")
    new.write("made")
    new.flush()
    out.append([new.read(9), new.tell()])
    written = tf.io.gfile.GFile(os.path.join(folder, "new"), "w")
    written.write("ab")
    out.append([written.tell(), error_of(written.read), error_of(written.seek, 0)])
    written.close()
    return out


@program
def images_resized_by_area_with_aligned_corners():
    x = tf.reshape(tf.range(40.0) ** 1.5, [2, 5, 4, 1])
    area = v1.image.ResizeMethod.AREA
    sizes = ([3, 7], [5, 4], [10, 3], [2, 2], [1, 1])
    return [v1.image.resize(x, size, area, align_corners=True) for size in sizes]


@program
def what_is_known_of_values_while_tracing():
    out = []

    @tf.function
    def traced():
        for value in (1.5, "a", [1, 2], [True]):
            array = tf.get_static_value(tf.constant(value))
            out.append([type(array).__name__, str(array.dtype), array])
        return tf.constant(0)

    traced()
    variable = tf.Variable(1.0)
    with tf.Graph().as_default():
        out.append(error_of(variable.numpy))
    return out


@program
def records_in_files_that_grow():
    path = os.path.join(tempfile.mkdtemp(), "records")
    writer = tf.io.TFRecordWriter(path)
    writer.write(b"one")
    writer.flush()
    records = v1.io.tf_record_iterator(path)
    out = [next(records), next(records, None), next(records, None)]
    writer.write(b"two")
    writer.close()
    out += [next(records), next(records, None)]
    records.close()
    out.append(next(records, None))
    with tf.io.TFRecordWriter(path) as writer:
        for record in (b"one", b"two", b"three"):
            writer.write(record)
    records.reopen()
    return [*out, list(records), error_of(writer.write, b"four"), error_of(writer.flush)]


@program
def compressed_records_that_are_not_closed():
    out = []
    for kind in ("GZIP", "ZLIB"):
        path = os.path.join(tempfile.mkdtemp(), "records")
        options = tf.io.TFRecordOptions(
            tf.io.TFRecordOptions(kind), compression_strategy=zlib.Z_HUFFMAN_ONLY
        )
        writer = tf.io.TFRecordWriter(path, options)
        writer.write(b"x" * 1000)
        writer.flush()
        out.append([len(record) for record in v1.io.tf_record_iterator(path, options)])
        writer.close()
        out.append([kind, len(list(v1.io.tf_record_iterator(path, options)))])
    return out
