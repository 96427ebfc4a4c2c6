"""Explaining memory: who holds it, whether it grows, what to do; reports and exports.

Nothing here is imported until somebody asks.
"""
