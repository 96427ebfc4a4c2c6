"""``tf.function``: Python functions traced into graphs that run without Python.

``function.py`` answers calls, ``arguments.py`` takes their arguments apart, ``concrete.py`` is one
traced function, ``state.py`` notices Python values that changed since. Which trace a call gets,
what a new one is made for and which are kept is decided in C++ (``src/tidemark/trace/traces.h``).
"""
