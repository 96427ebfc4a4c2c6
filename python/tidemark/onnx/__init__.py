"""ONNX models as functions: ``model = tf.onnx.load("net.onnx"); model(x=array)["y"]``.

A model that was read is traced, planned, bounded and explained as any ``tf.function``; gradients
flow through it. Nothing in a file is run: what it says is checked before memory is taken for it.
"""

from tidemark.onnx._model import Model, Port, load, readable_ops
from tidemark.onnx._save import save

__all__ = ["Model", "Port", "load", "readable_ops", "save"]
