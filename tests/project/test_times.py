"""The table of test times says what the files of a run say, the longest first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dev.times import read_times, table
from tests.factories import REPOSITORY

RESULTS = """\
<testsuites><testsuite name="pytest">
<testcase file="tests/rater/test_rating.py" name="test_one" time="2.5">
  <properties><property name="x" value="9"/><property name="processor_seconds" value="1.25"/></properties></testcase>
<testcase file="tests/rater/test_rating.py" name="test_two[a]" time="9.0">
  <properties><property name="processor_seconds" value="6.0"/></properties></testcase>
<testcase file="tests/e2e/test_review.py" name="test_a_story" time="8.0">
  <properties><property name="processor_seconds" value="7.5"/></properties></testcase>
<testcase file="tests/e2e/test_review.py" name="test_that_is_skipped" time="0.0"><skipped/></testcase>
</testsuite></testsuites>
"""


def test_the_table_of_two_runs(tmp_path: Path) -> None:
    other = RESULTS.replace("tests/rater/test_rating.py", "tests/test_config.py").replace("a_story", "another")
    files = [tmp_path / "one.xml", tmp_path / "two.xml"]
    for file, text in zip(files, (RESULTS, other), strict=True):
        file.write_text(text, encoding="utf-8")
    assert table(each for file in files for each in read_times(file)).splitlines() == [
        "processor   clock",
        "     29.5    39.0  all (8)",
        "     15.0    16.0    tests/e2e (4)",
        "     15.0    16.0      tests/e2e/test_review.py (4)",
        "      7.2    11.5    tests (2)",
        "      7.2    11.5      tests/test_config.py (2)",
        "      7.2    11.5    tests/rater (2)",
        "      7.2    11.5      tests/rater/test_rating.py (2)",
        "the 25 longest:",
        "      7.5     8.0  tests/e2e/test_review.py::test_a_story",
        "      7.5     8.0  tests/e2e/test_review.py::test_another",
        "      6.0     9.0  tests/rater/test_rating.py::test_two[a]",
        "      6.0     9.0  tests/test_config.py::test_two[a]",
        "      1.2     2.5  tests/rater/test_rating.py::test_one",
        "      1.2     2.5  tests/test_config.py::test_one",
        "      0.0     0.0  tests/e2e/test_review.py::test_that_is_skipped",
        "      0.0     0.0  tests/e2e/test_review.py::test_that_is_skipped",
    ]


def test_a_run_writes_down_what_each_test_took(tmp_path: Path) -> None:
    """Of a process that the test waited for as well."""
    file = tmp_path / "results.xml"
    test = "tests/project/test_times.py::test_a_second_of_another_process"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", f"--junitxml={file}", test],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (taken,) = read_times(file)
    assert (taken.file, taken.name) == tuple(test.split("::"))
    assert 0.2 < taken.processor < 60


def test_a_second_of_another_process() -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
