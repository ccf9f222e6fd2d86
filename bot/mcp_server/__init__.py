"""The pipeline's steps as tools of the Model Context Protocol: for chat assistants, and for platforms that embed it.

Nothing else of the product imports this package, since the SDK that it is built on is an extra.
"""
