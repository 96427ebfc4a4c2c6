"""Checkpoints: the variables that can be reached from an object, by the names of the attributes.

``objects.py`` finds them, ``writing.py`` writes them, ``restoring.py`` gives them their values
again, also those that are made only later. ``checkpoint.py`` and ``manager.py`` are
``tf.train.Checkpoint`` and ``tf.train.CheckpointManager``.
"""
