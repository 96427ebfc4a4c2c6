"""More of them: what arrays, files, loop variables and axes hold while a function is traced."""

import os
import tempfile

from function_programs import program, tf

# --- files ----------------------------------------------------------------------------------------


def _content(path):
    with open(path, "rb") as file:
        return file.read()


@program
def files_closed_more_than_once():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for mode, text in (("wb", b"abc"), ("w", "abcd"), ("a", "e")):
            file = tf.io.gfile.GFile(path, mode)
            file.write(text)
            file.close(), file.flush(), file.close()
            out.append(_content(path))
        file.write("f")  # opens it again
        file.close()
        out.append(_content(path))
        tf.io.gfile.GFile(path, "w").close()  # nothing was written
        out.append(_content(path))
        tf.io.gfile.GFile(path + "2", "w").close()
        out.append(os.path.exists(path + "2"))
    return out
