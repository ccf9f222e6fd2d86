"""``incumbent mcp`` as a command: what it says where it cannot serve."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from incumbent.cli.main import run
from tests.factories import REPOSITORY


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "platform.example"])
def test_it_serves_nobody_but_this_machine(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "--http", "--host", host]) == 2
    assert "only this machine may be served" in capsys.readouterr().err


def test_no_other_command_needs_the_sdk() -> None:
    """Nor loads it: it is an extra, and slow to load."""
    program = (
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        "from incumbent.cli.main import COMMANDS, run\n"
        "import incumbent.cli.integration\n"
        "codes = [run([name, '--help']) for name in COMMANDS] + [run(['status'])]\n"
        "sys.exit(any(codes) or any(name.startswith(('mcp.', 'incumbent.mcp')) for name in sys.modules))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_nothing_else_of_the_product_imports_the_server() -> None:
    others = [path for path in Path(REPOSITORY / "bot" / "incumbent").rglob("*.py") if path.parent.name != "mcp"]
    importing = [path.name for path in others if "incumbent.mcp" in path.read_text(encoding="utf-8")]
    assert importing == ["integration.py"]
