"""The embedded inference backend: no key and no network (semantics, section 2.2).

A query becomes features of its text (structure, cue patterns, weighted terms); members fitted on different parts of the
taxonomy's exemplars vote on each capability, with calibrated probabilities.  The fitted model is arrays, kept by
content in the user's cache folder; its bits follow from exemplars, patterns, settings and seed alone.
"""
