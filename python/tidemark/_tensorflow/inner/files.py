"""``tensorflow.python.lib.io.file_io`` over ``tf.io.gfile``."""

from __future__ import annotations

from tidemark.io import gfile

FileIO = gfile.GFile
file_exists = gfile.exists
file_exists_v2 = gfile.exists
delete_file = gfile.remove
delete_recursively = gfile.rmtree
get_matching_files = gfile.glob
create_dir = gfile.mkdir
recursive_create_dir = gfile.makedirs
copy = gfile.copy
rename = gfile.rename
is_directory = gfile.isdir
list_directory = gfile.listdir
walk = gfile.walk
stat = gfile.stat


def write_string_to_file(filename, file_content):
    """Writes a file of text."""
    with gfile.GFile(filename, "w") as file:
        file.write(file_content)


def read_file_to_string(filename, binary_mode=False):
    """The whole of a file."""
    with gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes a file so that nobody sees a part of it."""
    temporary = f"{filename}.tmp"
    write_string_to_file(temporary, contents)
    gfile.rename(temporary, filename, overwrite)
