"""Formats of models and weights, and the roads between them."""
