"""Graphs while they are built: tracing, scopes, and statements over tensors as nodes."""
