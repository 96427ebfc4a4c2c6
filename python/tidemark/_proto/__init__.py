"""TensorFlow's messages in protocol buffers' format, read and written without that library."""
