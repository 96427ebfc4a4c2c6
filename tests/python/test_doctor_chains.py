"""Each planted defect is told with the chain from its bytes to the root, the line to change, the
lines that only made the bytes, and the bytes as the program asked for them; the healthy twins are
left in peace.

`tests/doctor/measure.py` does the same with all programs, also on other libraries.
"""

import concurrent.futures
import functools
import sys
from pathlib import Path

import pytest
from test_doctor import doctor

DOCTOR = Path(__file__).parents[1] / "doctor"
sys.path.insert(0, str(DOCTOR))
from judge import expected, judge  # noqa: E402

# `unseen` was written before the rules that find chains, and was not looked at for them;
# `strangers` by somebody who had not read the rules.
PLANTED = [
    path
    for folder in ("chains", "unseen", "strangers")
    for path in sorted(DOCTOR.glob(f"{folder}/seeded/*.py"))
]
# Of the others those that keep tensors in ways of their own: all of them take minutes.
OF_THEIR_OWN = [
    DOCTOR / folder / "seeded" / f"{name}.py"
    for folder, names in {
        "newcomers": [
            "at_the_end", "caught_warnings", "classes_made", "composed_partials",
            "datasets_in_list", "generator_of_a_dataset", "graphs_by_round",
            "listening_generator", "namespace", "record_array", "steps_as_methods",
        ],
        "latecomers": ["cache_on_an_instance", "string_keys_of_a_tree"],
        "visitors": ["cache_of_a_stream", "context_of_tokens", "wrapper_on_wrapper"],
        "neighbours": ["gradients_added_to_the_graph", "hypotheses_with_parents"],
    }.items()
    for name in names
]  # fmt: skip
# Not always found: the thread has done all its work within two milliseconds, and nobody may have
# looked so soon.
MISSED = {"thread_local"}
FOUND = [path for path in [*PLANTED, *OF_THEIR_OWN] if path.stem not in MISSED]
IDS = [f"{path.parts[-3]}-{path.stem}" for path in PLANTED]

pytestmark = pytest.mark.slow


def twin(path):
    return path.parents[1] / "fixed" / path.name


@functools.cache
def answers():
    paths = [*PLANTED, *OF_THEIR_OWN, *map(twin, PLANTED)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(paths, pool.map(lambda path: doctor(path)[0], paths), strict=True))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_chain_leads_to_the_root(path):
    text, found = path.read_text(), answers()[path]["findings"]
    assert judge(text, found) == {}
    assert str(path) in {finding["file"] for finding in found}
    for size in map(int, expected(text, "bytes")):
        assert any(0 < f["overhead_per_step"] < size for f in found)


@pytest.mark.parametrize("path", PLANTED, ids=IDS)
def test_the_healthy_twin_is_left_in_peace(path):
    assert answers()[twin(path)]["findings"] == []
