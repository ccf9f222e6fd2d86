"""From facts to verdicts: the Verdict Engine and the cycle over an eval set (pure; paper, section 2.4)."""
