"""``tf.sysconfig``: how to build against the library, and how it was built."""

from __future__ import annotations

import os as _os

import tidemark as _tf

CXX11_ABI_FLAG = 1
CXX_VERSION = 202002
MONOLITHIC_BUILD = 0


def get_include():
    """The folder of the C++ headers."""
    return _os.path.join(_os.path.dirname(_tf.__file__), "include")


def get_lib():
    """The folder of the library."""
    return _os.path.dirname(_tf.__file__)


def get_compile_flags():
    """Flags to compile a custom op with."""
    return [f"-I{get_include()}", "-std=c++20"]


def get_link_flags():
    """Flags to link a custom op with."""
    return [f"-L{get_lib()}", "-ltidemark"]


def get_build_info():
    """What the library was built for; Keras orders the weights of its GRU for a GPU by it."""
    from tidemark.config import _devices  # few programs ask

    has_cuda = _devices.is_built_with_cuda()
    return {"is_cuda_build": has_cuda, "is_rocm_build": False, "is_tensorrt_build": False}
