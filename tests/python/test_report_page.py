"""The report of a run, in a real browser."""

import html.parser
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import recordings
from environments import needs_plans

DOCTOR = Path(__file__).parents[1] / "doctor"
BROWSER = shutil.which("chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "report.html"
    program = DOCTOR / "pairs" / "traces_and_list.py"
    command = [sys.executable, "-m", "tidemark", "profile", "-o", str(out), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return out


def rendered(path, folder, *options):
    """The page's elements after its script has run."""
    if BROWSER is None:
        pytest.fail("chromium is missing; ./dev installs it")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
               f"--user-data-dir={folder}", *options, path.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    assert "@import" not in text and "url(" not in text

    class Parser(html.parser.HTMLParser):
        heads = []

        def handle_starttag(self, tag, attributes):
            if tag in ("h1", "h2"):
                self.heads.append(tag)

    parser = Parser()
    parser.feed(text)
    assert parser.heads.count("h1") == 1 and parser.heads.count("h2") >= 6


def test_the_script_fills_the_page(page, tmp_path):
    dom = rendered(page, tmp_path)
    assert 'data-ready="yes"' in dom
    assert dom.count("<polygon") >= 1  # the timeline
    assert dom.count("<tr>") > 10  # tables
    assert "retrace-value" in dom and "tensors-gathered" in dom
    assert "times: 3 -&gt; 4" in dom or "-&gt;" in dom  # why a trace was made
    assert 'role="radiogroup"' in dom and 'aria-live="polite"' in dom
    assert "<button>bytes</button>" in dom  # sorts by keyboard
    opened = float(re.search(r'data-opened="([0-9.]+)"', dom)[1])
    assert opened < 10_000  # milliseconds, on a machine that may be busy


PLANNED = """
import tensorflow as tf

@tf.function
def step(x):
    h = tf.nn.relu(x @ x)
    return tf.reduce_sum(h @ tf.tanh(h @ x))

for _ in range(20):
    step(tf.ones([64, 64]))
"""


@needs_plans
def test_arenas_of_plans_are_drawn(tmp_path):
    program, out = tmp_path / "planned.py", tmp_path / "planned.html"
    program.write_text(PLANNED)
    command = [sys.executable, "-m", "tidemark", "profile", "-o", str(out), str(program)]
    assert subprocess.run(command, timeout=120).returncode == 0
    dom = rendered(out, tmp_path / "user")
    assert "<b>step()</b>, called at planned.py:10" in dom
    arenas = re.findall(r'<svg class="arena".*?</svg>', dom, re.S)
    assert len(arenas) == 1 and "<rect" in arenas[0]
    assert re.search(r"<title>[^<]+ at planned.py:\d in step: 16 KiB at", arenas[0])
    assert "The largest of its" in dom  # the same in words
    assert 'value="by_label"' in dom  # the timeline by who held what


def test_a_screen_reader_finds_its_way(page, tmp_path):
    """Every picture, region and field has a name of its own; headings go down one by one."""
    dom = rendered(page, tmp_path)
    for svg in re.findall(r"<svg[^>]*>", dom):
        assert 'role="img"' in svg and "aria-label=" in svg
    for field in re.findall(r'<input type="search"[^>]*>', dom):
        assert "aria-label=" in field
    names = re.findall(r'role="region" aria-label="([^"]*)"', dom)
    assert len(names) == len(set(names)) >= 3
    levels = [int(level) for level in re.findall(r"<h([1-6])", dom)]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False))
    assert dom.count('scope="col"') >= 15 and '<html lang="en"' in dom


@pytest.mark.parametrize("dark", [False, True])
def test_it_looks_like_something(page, tmp_path, dark):
    shot = tmp_path / "shot.png"
    options = ["--blink-settings=preferredColorScheme=0"] if dark else []
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={shot}",
               "--window-size=1200,1600", f"--user-data-dir={tmp_path / 'user'}", *options,
               page.as_uri()]  # fmt: skip
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 0
    assert shot.stat().st_size > 30_000  # an empty page of that size has 10 kB


def test_names_from_files_cannot_break_out(tmp_path):
    from tidemark._explain import findings, looking
    from tidemark._explain import page as pages

    path = tmp_path / "</script><script>alert(1)<.tidemark"
    path = tmp_path / "odd.tidemark"
    recordings.write(str(path), 100)
    run = looking.recorded(str(path))
    run.analysis["groups"][0]["place"] = '</script><img src=x onerror="alert(1)">'
    text = pages.page("<b>odd</b>", run, findings.find(run))
    assert "<img" not in text and "<b>odd" not in text


@pytest.mark.slow
def test_a_long_recording_opens_quickly(tmp_path):
    path, out = tmp_path / "long.tidemark", tmp_path / "long.html"
    recordings.write(str(path), 100_000)
    command = [sys.executable, "-m", "tidemark", "report", str(path), "-o", str(out)]
    assert subprocess.run(command, timeout=60).returncode == 0
    rendered(out, tmp_path / "warm")
    began = time.monotonic()
    assert 'data-ready="yes"' in rendered(out, tmp_path / "warm")
    assert time.monotonic() - began < 10  # the browser's own start is most of it
