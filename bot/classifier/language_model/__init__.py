"""The language model backend: any OpenAI-compatible endpoint (semantics, section 2.2).

A query is data in a prompt whose unchanging part comes first; one request carries all samples where the endpoint can
give them.  What the endpoint can do is found out once.  Prompt, answers and probing are pure; the endpoint is the edge.
"""
