"""``tf.__internal__.test``: what tests of libraries close to TensorFlow are made with."""

from tidemark.__internal__.test import combinations
