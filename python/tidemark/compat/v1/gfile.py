"""``tf.compat.v1.gfile``: the files of ``tf.io.gfile`` under their old names."""

from __future__ import annotations

from tidemark.io import gfile as _gfile
from tidemark.io.gfile import GFile

Open = FastGFile = GFile


def Copy(oldpath, newpath, overwrite=False):
    """Copies a file."""
    _gfile.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname):
    """Removes a folder with all that is in it."""
    _gfile.rmtree(dirname)


def Exists(filename):
    return _gfile.exists(filename)


def Glob(filename):
    """The files that fit the pattern, or any of a list of patterns."""
    return _gfile.glob(filename)


def IsDirectory(dirname):
    return _gfile.isdir(dirname)


def ListDirectory(dirname):
    return _gfile.listdir(dirname)


def MakeDirs(dirname):
    _gfile.makedirs(dirname)


def MkDir(dirname):
    _gfile.mkdir(dirname)


def Remove(filename):
    _gfile.remove(filename)


def Rename(oldname, newname, overwrite=False):
    _gfile.rename(oldname, newname, overwrite)


def Stat(filename):
    return _gfile.stat(filename)


def Walk(top, in_order=True):
    """The folders below one, each with its folders and files."""
    return _gfile.walk(top, in_order)
