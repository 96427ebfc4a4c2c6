"""Every example and every program in the README runs; the README shows the examples as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The gallery holds programs for TensorFlow: test_articles.py runs them.
EXAMPLES = sorted(p for p in (ROOT / "examples").rglob("*.py") if p.parent.name != "gallery")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_example_runs_from_an_empty_folder(example, tmp_path):
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


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
