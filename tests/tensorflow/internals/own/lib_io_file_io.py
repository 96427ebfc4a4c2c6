"""``tensorflow.python.lib.io.file_io``: files by the public names for them."""

import tensorflow as tf

_gfile = tf.io.gfile
FileIO = _gfile.GFile
copy_v2 = _gfile.copy
create_dir = create_dir_v2 = _gfile.mkdir
delete_file = delete_file_v2 = _gfile.remove
delete_recursively = delete_recursively_v2 = _gfile.rmtree
file_exists = file_exists_v2 = _gfile.exists
get_matching_files = get_matching_files_v2 = _gfile.glob
get_registered_schemes = _gfile.get_registered_schemes
is_directory = is_directory_v2 = _gfile.isdir
join = _gfile.join
list_directory = list_directory_v2 = _gfile.listdir
recursive_create_dir = recursive_create_dir_v2 = _gfile.makedirs
rename_v2 = _gfile.rename
stat = stat_v2 = _gfile.stat
walk_v2 = _gfile.walk


def copy(source, target, overwrite=False):
    _gfile.copy(source, target, overwrite)


def rename(source, target, overwrite=False):
    _gfile.rename(source, target, overwrite)


def walk(top, in_order=True):
    return _gfile.walk(top, topdown=in_order)


def read_file_to_string(filename, binary_mode=False):
    with _gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, content):
    with _gfile.GFile(filename, "w") as file:
        file.write(content)
