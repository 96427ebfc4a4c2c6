"""``tidemark diff before after``: what grew between two recordings, by line and root."""

from __future__ import annotations

import json

from tidemark.cli import OK, InputError

ABOUT = "tells what grew between two recordings of tidemark watch --record"


def add_arguments(parser):
    parser.add_argument("before", help="a recording that `tidemark watch --record` made")
    parser.add_argument("after", help="another, as of the next release")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def read(path):
    """A recording over days, or why there is none."""
    from tidemark._explain import days  # only reports need it

    try:
        return days.read(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except days.FormatError as error:
        raise InputError(str(error)) from None


def run(arguments) -> int:
    from tidemark._explain import days  # only reports need it

    before, after = read(arguments.before), read(arguments.after)
    if arguments.json:
        names = ("place", "op", "bytes_before", "bytes_after", "an_hour_before", "an_hour_after",
                 "root")  # fmt: skip
        rows = days.difference(before, after)
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
    else:
        print(days.difference_text(before, after))
    return OK
