"""Errors that point at the lines of the user.

Converted code carries the file name and the lines it was made from, so a traceback through it reads
as if the function itself had run. What is left to do is to take out the frames of this package, and
to say the line in the message as well, as TensorFlow does.
"""

from __future__ import annotations

import linecache
import os

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(_HERE)) + os.sep
_ORIGINAL = "__autograph_message__"  # the message before lines were added to it


def explained(error):
    """The same error with the user's lines in its traceback and message."""
    error.__traceback__ = _without_ours(error.__traceback__)
    frames = list(_user_frames(error.__traceback__))
    if any(is_converted for is_converted, *_ in frames):
        _add_lines(error, frames)
    return error


def _is_converted(code):
    return "ag__" in code.co_freevars


def _is_entry(code):
    """Whether converted code is a function of the user, not a part of one that became its own."""
    return "FunctionScope" in code.co_names or "with_function_scope" in code.co_names


def _without_ours(traceback):
    """The traceback without this package's frames, one frame for each function of the user."""
    kept = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_HERE):
            if _is_converted(code) and not _is_entry(code):
                _drop_statement(kept, code)
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry, following in zip(kept, [*kept[1:], None], strict=False):  # there may be none
        entry.tb_next = following
    return kept[0] if kept else None


def _drop_statement(kept, part):
    """Drops the frames of the statement that this part of a function belongs to."""
    last = len(kept) - 1
    while last >= 0 and kept[last].tb_frame.f_code.co_filename.startswith(_PACKAGE):
        last -= 1
    if last >= 0:
        code = kept[last].tb_frame.f_code
        if _is_converted(code) and code.co_filename == part.co_filename:
            del kept[last:]


def _user_frames(traceback):
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            yield _is_converted(code), code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def _text(error, frames):
    lines = ["in user code:", ""]
    for is_converted, filename, lineno, name in frames:
        mark = "  *" if is_converted else ""
        lines.append(f'    File "{filename}", line {lineno}, in {name}{mark}')
        source = linecache.getline(filename, lineno).strip()
        if source:
            lines.append(f"        {source}")
    message = getattr(error, _ORIGINAL).replace("\n", "\n    ")
    return "\n".join([*lines, "", f"    {type(error).__name__}: {message}", ""])


def _add_lines(error, frames):
    """Puts the lines into the message where its type keeps it in one place, else into a note."""
    if not hasattr(error, _ORIGINAL):
        try:
            setattr(error, _ORIGINAL, str(error))
        except AttributeError:  # a type with slots
            return
    text = _text(error, frames)
    if isinstance(getattr(error, "_message", None), str):
        error._message = text
    elif len(error.args) == 1 and isinstance(error.args[0], str) and str(error) == error.args[0]:
        error.args = (text,)
    else:
        notes = [note for note in getattr(error, "__notes__", ()) if "in user code:" not in note]
        error.__notes__ = [*notes, text]
