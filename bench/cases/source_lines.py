"""What it costs that the Ledger notes the source line of every allocation."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns


def tidemark(options: Options):
    import tidemark as tf

    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    best = {"off_ns": float("inf"), "on_ns": float("inf")}
    before = tf.memory.set_source_lines(True)
    for _ in range(options.pick(40, 5)):
        for name, on in (("off_ns", False), ("on_ns", True)):
            tf.memory.set_source_lines(on)
            best[name] = min(
                best[name], interleaved_ns({"add": lambda: a + b}, calls=20000, repeats=1)["add"]
            )
    tf.memory.set_source_lines(before)
    return best


CASE = Case(
    about="a + b from Python with and without source lines in the Ledger",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row(
            "a + b, source lines on",
            "tidemark.on_ns",
            "tidemark.off_ns",
            at_most_ratio=1.15,
            unit="ns",
            peer_label="off",
        )
    ],
)
