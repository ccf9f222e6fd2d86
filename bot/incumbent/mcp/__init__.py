"""The steps of the pipeline as tools of the Model Context Protocol, for chat assistants and platforms that embed it.

No other package imports this one, since its SDK is an optional dependency.
"""
