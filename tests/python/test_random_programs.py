"""Random programs give the same eagerly and compiled; `./dev fuzz` draws more of them."""

import os
import random

import pytest
from random_programs import compare

START = int(os.environ.get("RANDOM_PROGRAMS_FROM", "0"))
COUNT = int(os.environ.get("RANDOM_PROGRAMS", "1200"))
PIECES = 12


@pytest.mark.parametrize("piece", range(PIECES))
def test_compiled_and_eager_agree(piece):
    for seed in range(START + piece, START + COUNT, PIECES):
        compare(seed, length=8 + seed % 20)


@pytest.mark.fuzz
def test_new_ones_agree_too():
    start = random.SystemRandom().randrange(1 << 40)
    for seed in range(start, start + 10 * COUNT):
        compare(seed, length=8 + seed % 30)
