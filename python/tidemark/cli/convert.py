"""``tidemark convert``: a model or weights from one format to another."""

from __future__ import annotations

from tidemark import errors
from tidemark.cli import OK, InputError
from tidemark.cli.inspect import sizes_of

ABOUT = "convert a model or weights: tidemark convert IN OUT"


def add_arguments(parser) -> None:
    parser.add_argument("source", metavar="IN", help="a file or folder; its format is told from it")
    parser.add_argument(
        "target",
        metavar="OUT",
        help="model.onnx, a folder for a saved model, weights.safetensors, weights.npz, "
        "weights.index for a checkpoint",
    )
    parser.add_argument("--to", default="", help="the format, where the name does not tell it")
    parser.add_argument("--signature", default="", help="which one of the model's is written")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=SIZES",
        help="sizes of an input that are fixed, as in images=1,3,224,224",
    )


def run(arguments) -> int:
    from tidemark._formats import converting  # all formats are behind it

    try:
        told = converting.convert(
            arguments.source,
            arguments.target,
            arguments.to,
            arguments.signature,
            sizes_of(arguments.shape),
        )
    except (errors.OpError, ValueError, OSError) as error:
        raise InputError(getattr(error, "message", None) or str(error)) from None
    print(told)
    return OK
