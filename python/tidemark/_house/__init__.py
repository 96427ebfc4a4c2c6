"""House calls: a program on another library's own installation, looked at from outside.

Pure Python: it runs where Tidemark itself is not installed (see ``visit.py``).
"""
