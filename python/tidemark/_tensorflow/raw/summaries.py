"""Operations on summaries: messages as texts, and writers of event files behind handles."""

from __future__ import annotations

import numpy as np

import tidemark as tf
from tidemark._proto.summary import Summary
from tidemark._tensorflow.raw.handles import held, shared, step
from tidemark._v1 import summary as messages


class _Writer:
    """A place for the writer that another operation opens; none is open, nothing is written."""

    def __init__(self):
        self.file = None

    def open(self, logdir, max_queue, flush_millis, suffix):
        if self.file is None:
            self.file = tf.summary.create_file_writer(logdir, max_queue, flush_millis, suffix)

    def write(self, at, message):
        if self.file is not None:
            with self.file.as_default(), tf.summary.record_if(True):
                tf.summary.experimental.write_raw_pb(message, int(at))


def _text(tensor):
    return tensor.numpy().decode()


def _message(build, *inputs):
    """A text: the Summary that ``build`` makes of the inputs' values."""

    def run(*values):
        arrays = [value.numpy() for value in values]
        return tf.constant(build(*arrays).SerializeToString())

    return step(run, inputs, [(tf.string, [])])[0]


def _tags(tag):
    return [one.decode() for one in np.ravel(np.array(tag, dtype=object))]


def _numbers(tags, values):
    if np.shape(tags) != np.shape(values):
        raise tf.errors.InvalidArgumentError(
            None, None,
            f"tags and values are not the same shape: {list(np.shape(tags))} != "
            f"{list(np.shape(values))}",
        )  # fmt: skip
    pairs = zip(_tags(tags), np.ravel(values), strict=True)
    return Summary(value=[{"tag": tag, "simple_value": float(value)} for tag, value in pairs])


def _histogram(tag, values):
    made = Summary()
    value = made.value.add(tag=_tags(tag)[0])
    try:
        value.histo.CopyFrom(messages.histogram_of(values))
    except ValueError as error:
        raise tf.errors.InvalidArgumentError(None, None, f"{error} for: {_tags(tag)[0]}") from None
    return made


def _images(max_images):
    return lambda tag, batch: messages.images_of(_tags(tag)[0], batch, max_images)


def _clips(max_outputs):
    def build(tag, clips, rate):
        return messages.clips_of(_tags(tag)[0], clips, rate, max_outputs)

    return build


def _merged(*parts):
    made = Summary()
    for part in parts:
        made.MergeFromString(part)
    return made


# --- writers -------------------------------------------------------------------------------------


def _writer(container, shared_name):
    return shared(_Writer, "writer", container, shared_name)


def _open(writer, logdir, max_queue, flush_millis, filename_suffix):
    held(writer, _Writer).open(
        _text(logdir), int(max_queue), int(flush_millis), _text(filename_suffix)
    )


def _flush(writer):
    file = held(writer, _Writer).file
    if file is not None:
        file.flush()


def _close(writer):
    found = held(writer, _Writer)
    if found.file is not None:
        found.file.close()
        found.file = None


def _written(writer, at, message):
    return step(held(writer, _Writer).write, [at, message])


def _write_number(writer, step, tag, value):
    return _written(writer, step, _message(_numbers, tag, value))


def _write_histogram(writer, step, tag, values):
    return _written(writer, step, _message(_histogram, tag, values))


def _write_images(writer, step, tag, tensor, bad_color, max_images):
    return _written(writer, step, _message(_images(max_images), tag, tensor))


def _write_clips(writer, step, tag, tensor, sample_rate, max_outputs):
    return _written(writer, step, _message(_clips(max_outputs), tag, tensor, sample_rate))


def _write_tensor(writer, step, tensor, tag, summary_metadata):
    file = held(writer, _Writer).file
    if file is None:
        return None
    with file.as_default(), tf.summary.record_if(True):
        tf.summary.write(_text(tag), tensor, step, summary_metadata.numpy())
    return None


WRITTEN = {
    "AudioSummaryV2": lambda tag, tensor, sample_rate, max_outputs: _message(
        _clips(max_outputs), tag, tensor, sample_rate
    ),
    "CloseSummaryWriter": _close,
    "CreateSummaryFileWriter": _open,
    "FlushSummaryWriter": _flush,
    "HistogramSummary": lambda tag, values: _message(_histogram, tag, values),
    "MergeSummary": lambda inputs: _message(_merged, *inputs),
    "ScalarSummary": lambda tags, values: _message(_numbers, tags, values),
    "SummaryWriter": _writer,
    "WriteAudioSummary": _write_clips,
    "WriteHistogramSummary": _write_histogram,
    "WriteImageSummary": _write_images,
    "WriteRawProtoSummary": lambda writer, step, tensor: _written(writer, step, tensor),
    "WriteScalarSummary": _write_number,
    "WriteSummary": _write_tensor,
}
