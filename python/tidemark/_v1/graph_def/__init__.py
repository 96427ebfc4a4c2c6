"""Graphs as TensorFlow writes them: ``GraphDef`` in, ``GraphDef`` out."""
