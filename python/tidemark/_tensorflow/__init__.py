"""Being TensorFlow to programs and libraries: its place, Keras on it, and what is not here."""
