"""Adjacency of molecules: all have the same places, each its own values."""

import tensorflow as tf


def places(size, band):
    rows = tf.repeat(tf.range(size, dtype=tf.int64), band)
    columns = tf.tile(tf.range(band, dtype=tf.int64), [size])
    return tf.stack([rows, columns], 1)


def degree(molecule):
    return tf.sparse.reduce_sum(molecule)


def load(count):
    indices = places(256, 16)
    molecules = []
    total = 0.0
    for _ in range(count):
        bonds = tf.random.uniform([4096])
        molecule = tf.sparse.SparseTensor(indices, bonds, [256, 256])
        total += float(degree(molecule))
        molecules = [molecule]
    return total / len(molecules)


print(load(100))
