"""Objects and their functions as TensorFlow's SavedModel: one module a part of the file."""
