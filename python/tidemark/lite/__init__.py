"""``tf.lite``: TFLite models as functions, and TensorFlow's interpreter over them.

model = tf.lite.load("model.tflite")
y = model(x=array)["output_0"]

interpreter = tf.lite.Interpreter(model_path="model.tflite")
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], array)
interpreter.invoke()
"""

from tidemark._export import refusing as _refusing
from tidemark.lite._interpreter import Interpreter
from tidemark.lite._model import load, readable_ops

__all__ = ["Interpreter", "load", "readable_ops"]

__getattr__ = _refusing("tf.lite")
