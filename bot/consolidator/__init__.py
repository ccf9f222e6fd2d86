"""From facts to verdicts: the Verdict Engine (pure) and the cycle over an eval set (paper, section 2.4)."""
