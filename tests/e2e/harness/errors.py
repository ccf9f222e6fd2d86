"""The one error of the harness."""

from __future__ import annotations


class HarnessError(Exception):
    """The harness itself cannot go on: never a finding about the product."""
