"""Tensors, variables and what describes them: made, indexed, put together, printed."""
