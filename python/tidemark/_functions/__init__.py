"""``tf.function``: Python functions traced into graphs that run without Python.

``function.py`` answers calls, ``arguments.py`` tells calls apart, ``traces.py`` keeps what was
traced within a bound, ``concrete.py`` is one traced function, ``state.py`` notices Python values
that changed since.
"""
