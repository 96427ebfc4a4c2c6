"""``tidemark export run.tidemark --to chrome -o trace.json``: recordings for other tools."""

from __future__ import annotations

from tidemark.cli import OK, InputError

ABOUT = "turns a recording into what other tools read: pytorch, pprof, chrome, tensorboard"


def add_arguments(parser):
    parser.add_argument("recording", help="a file that tf.memory.record or tidemark profile made")
    parser.add_argument(
        "--to", required=True, choices=["pytorch", "pprof", "chrome", "tensorboard"],
        help="pytorch: memory_viz; pprof; chrome: also for Perfetto; tensorboard: a folder",
    )  # fmt: skip
    parser.add_argument("-o", "--output", required=True, metavar="PATH", help="where it goes")


def run(arguments) -> int:
    from tidemark._explain import exports  # only reports need it

    try:
        exports.WRITERS[arguments.to](arguments.recording, arguments.output)
    except OSError as error:
        raise InputError(f"cannot write {arguments.output}: {error.strerror}") from None
    return OK
