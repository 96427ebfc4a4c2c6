"""Every example and every program in the README runs; the README shows the examples as they are."""

import gzip
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from environments import UNLIMITED

ROOT = Path(__file__).parents[2]
# The gallery holds programs for TensorFlow: test_articles.py runs them. The main job has a test of
# its own below.
APART = {"gallery", "fashion_mnist"}
EXAMPLES = sorted(p for p in (ROOT / "examples").rglob("*.py") if p.parent.name not in APART)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_example_runs_from_an_empty_folder(example, tmp_path):
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env=UNLIMITED,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("example", sorted((ROOT / "examples" / "keras").glob("*.py")))
def test_examples_of_keras_are_short(example):
    assert len(example.read_text().splitlines()) < 60


def run_main_job(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, ROOT / "examples" / "fashion_mnist" / "run.py", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300, env={**UNLIMITED, **environment},
    )  # fmt: skip


@pytest.mark.skipif(
    not Path("/usr/share/datasets/fashion-mnist").exists(),
    reason="dataset-fashion-mnist is missing",
)
def test_main_job_trains_shows_the_gallery_and_leaves_a_page(tmp_path):
    program = ROOT / "examples" / "gallery" / "short_loop.py"
    done = run_main_job(
        tmp_path, "--images", "2000", "--epochs", "2", "--report", "out/r.html", program
    )
    assert done.returncode == 0, done.stderr
    accuracy = float(re.search(r"test accuracy ([0-9.]+)%", done.stdout)[1])
    assert accuracy > 60, "2000 pictures are enough to be far better than a guess"
    for words in ("before the first step:", "measured:", "short_loop.py", "flat"):
        assert words in done.stdout
    assert "20/20" in done.stdout, "Keras's own progress bar"
    assert f"Report: {tmp_path / 'out' / 'r.html'}" in done.stdout
    page = ElementTree.fromstring(
        (tmp_path / "out" / "r.html").read_text().replace("<!doctype html>", "")
        .replace('<meta charset="utf-8">', "")
        .replace('<meta name="viewport" content="width=device-width, initial-scale=1">', "")
    )  # fmt: skip
    assert len(page.findall(".//svg")) == 2 and len(page.findall(".//polyline")) == 4
    assert "short_loop.py" in [cell.text for cell in page.findall(".//td")]
    assert "prefers-color-scheme: dark" in page.find(".//style").text
    assert "http" not in ElementTree.tostring(page, encoding="unicode"), "it needs nothing else"


def test_main_job_says_what_is_missing_or_broken(tmp_path):
    done = run_main_job(tmp_path, FASHION_MNIST=str(tmp_path))
    assert done.returncode != 0 and "dataset-fashion-mnist" in done.stderr
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(bytes((0, 0, 8, 3)) + bytes(11) + b"\x05" + bytes(3))
    done = run_main_job(tmp_path, FASHION_MNIST=str(tmp_path))
    assert done.returncode != 0 and "not a whole file" in done.stderr


@pytest.mark.parametrize("language, example", [("python", "first.py"), ("cpp", "first.cpp")])
def test_readme_shows_the_example(language, example):
    blocks = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks == [(ROOT / "examples" / example).read_text()]


def test_links_in_the_documents_lead_somewhere():
    missing = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            if not (page.parent / target).exists():
                missing.append(f"{page.name}: {target}")
    assert not missing
