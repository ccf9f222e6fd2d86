"""A capability for the platform of the examples, with exemplars enough to pass its appraisal."""

from __future__ import annotations

from typing import Final

OPINION: Final = """\

  - id: dialog.opinion
    name: Asking for an opinion
    group: dialog
    description: The caller asks what the bot thinks or expects, as of interest rates, shares or the weather.
    source: intent
    patterns:
      - '\\b(do|what do) you (think|expect|reckon)\\b'
"""
ASKED: Final = (
    "Do you think interest rates will fall this year?",
    "Do you think interest rates will go up next year?",
    "What do you think, is gold a good buy now?",
    "Do you expect the pound to fall this year?",
    "Do you think house prices will fall?",
    "What do you reckon, will shares recover this year?",
    "Do you think I should fix my mortgage now?",
    "What do you think, will the euro rise again?",
    "Do you expect rates on savings to go down soon?",
    "Do you reckon shares are a good buy this year?",
    "What do you expect house prices to do next year?",
    "Do you think the pound will recover?",
)
"""Exemplars of it, the first of which is the query b11 of the examples' customer to the letter."""
NOT_ASKED: Final = (
    "How high is the interest rate on my savings?",
    "What is the rate of the pound today?",
    "When does my fixed mortgage end?",
    "How many shares are in my account?",
    "What was the price of gold yesterday?",
    "Tell me the interest rate on my mortgage.",
    "By how much did interest rates fall last year?",
    "How many euros do I get for a hundred pounds?",
    "What did I pay for my house?",
    "Which savings account has the best rate?",
    "Sell my shares, please.",
    "Is my mortgage fixed until next year?",
)
"""Queries that only look like it."""
ROWS: Final = "".join(
    [f"o{place:02d}\tdialog.opinion\t\t{text}\n" for place, text in enumerate(ASKED)]
    + [f"p{place:02d}\t\tdialog.opinion\t{text}\n" for place, text in enumerate(NOT_ASKED)]
)
"""Their rows in a table of exemplars."""
