"""A second, deliberately naive implementation of the rater, the verdict engine, the cycle, roles and prune.

It was written from the definitions alone and shares no code with ``incumbent``: where the two differ on some input, one
of them misreads the definitions. ``reference`` computes, ``strategies`` draws cases, ``test_reference`` tests the
oracle.
"""
