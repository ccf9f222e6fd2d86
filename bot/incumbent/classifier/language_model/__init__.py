"""The language model backend: any OpenAI-compatible endpoint (semantics, section 2.2).

A query is data in a prompt whose constant part comes first; one request returns all samples if the endpoint supports
that.  The endpoint's abilities are probed once.  Prompt, answers and probing are pure; only the endpoint does I/O.
"""
