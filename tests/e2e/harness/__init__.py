"""A GitHub that this project did not write, to test against: an emulator, git over HTTP, GitHub's API description, act.

``World`` is what tests use: people, repositories, pull requests, tokens, events.  ``Gateway`` is the one address that
everything under test talks to; it records, checks and, on demand, fails.  ``act`` runs workflow files.  How the
emulator differs from GitHub stands in each ``mends`` module; what cannot be shown here, in docs/testing.md.
"""
