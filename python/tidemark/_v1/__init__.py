"""TensorFlow 1: graphs that are built first and run by sessions.

``graph.py`` holds graphs and operations, ``session.py`` runs them, ``variables.py`` are the
variables of a graph, ``scopes.py`` shares them by name. Nodes that nothing refers to are gone.
"""
