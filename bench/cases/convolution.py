"""Convolutions of 8 images of 56x56x64 and their gradients, against torch and TensorFlow."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns

BATCH, SIDE, CHANNELS = 8, 56, 64
FILTERS = {"3x3": (3, 3, 64, 64), "1x1": (1, 1, 64, 64), "depthwise": (3, 3, 1, 64)}
PARTS = ("forward", "input_gradient", "filter_gradient")


def arrays(window):
    import numpy

    rng = numpy.random.default_rng(1)
    images = (BATCH, SIDE, SIDE, CHANNELS)
    return (
        rng.standard_normal(images, dtype=numpy.float32),
        rng.standard_normal(window, dtype=numpy.float32),
        rng.standard_normal(images, dtype=numpy.float32),
    )


def tidemark(options: Options):
    from tidemark._tidemark import call

    import tidemark as tf

    calls = {}
    for name, window in FILTERS.items():
        x, w, dy = (tf.constant(a) * 1.0 for a in arrays(window))
        sizes, filter_sizes = tf.constant(x.shape.as_list()), tf.constant(list(window))
        attrs = {"padding": "SAME", "strides": [1, 1]}

        def add(part, op, *inputs, name=name, attrs=attrs):
            calls[f"{name}_{part}"] = lambda: call(op, inputs, attrs)

        add("forward", "convolution", x, w)
        add("input_gradient", "convolution_input_grad", sizes, w, dy)
        add("filter_gradient", "convolution_filter_grad", x, filter_sizes, dy)
    return interleaved_ns(calls, calls=1, repeats=options.pick(12, 2))


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    calls = {}
    for name, window in FILTERS.items():
        pad, groups = window[0] // 2, CHANNELS if name == "depthwise" else 1
        x, w, dy = (torch.tensor(a) for a in arrays(window))
        layout = torch.channels_last
        x, dy = (t.permute(0, 3, 1, 2).contiguous(memory_format=layout) for t in (x, dy))
        w = w.permute(3, 2, 0, 1).contiguous()
        calls[f"{name}_forward"] = lambda x=x, w=w, p=pad, g=groups: torch.conv2d(
            x, w, padding=p, groups=g
        )
        for index, part in enumerate(PARTS[1:]):
            mask = [index == 0, index == 1, False]
            calls[f"{name}_{part}"] = lambda x=x, w=w, dy=dy, p=pad, g=groups, m=mask: (
                torch.ops.aten.convolution_backward(
                    dy, x, w, None, [1, 1], [p, p], [1, 1], False, [0, 0], g, m
                )
            )
    with torch.inference_mode():
        return interleaved_ns(calls, calls=1, repeats=options.pick(12, 2))


def tensorflow(options: Options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    raw, one, calls = tf.raw_ops, [1, 1, 1, 1], {}
    for name, window in FILTERS.items():
        x, w, dy = (tf.constant(a) for a in arrays(window))
        kind, filter_kind = "Conv2D", "Conv2D"
        if name == "depthwise":
            w = tf.reshape(w, (3, 3, CHANNELS, 1))
            kind, filter_kind = "DepthwiseConv2dNative", "DepthwiseConv2dNative"
        forward = getattr(raw, kind)
        back = getattr(raw, f"{kind}BackpropInput")
        filters = getattr(raw, f"{filter_kind}BackpropFilter")
        shared = {"strides": one, "padding": "SAME"}
        calls[f"{name}_forward"] = lambda f=forward, x=x, w=w, s=shared: f(input=x, filter=w, **s)
        calls[f"{name}_input_gradient"] = lambda f=back, x=x, w=w, dy=dy, s=shared: f(
            input_sizes=x.shape, filter=w, out_backprop=dy, **s
        )
        calls[f"{name}_filter_gradient"] = lambda f=filters, x=x, w=w, dy=dy, s=shared: f(
            input=x, filter_sizes=w.shape, out_backprop=dy, **s
        )
    return interleaved_ns(calls, calls=1, repeats=options.pick(12, 2))


CASE = Case(
    about="convolutions of 8x56x56x64, forward and both gradients, against torch and TensorFlow",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("tf", tensorflow),
    ],
    rows=[
        Row(
            f"conv {name} {part.replace('_', ' ')}",
            f"tidemark.{name}_{part}",
            (f"torch.{name}_{part}", f"tf.{name}_{part}"),
            at_most_ratio=1.0,
            unit="ns",
        )
        for name in FILTERS
        for part in PARTS
    ],
)
