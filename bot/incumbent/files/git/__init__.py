"""A git repository as a store of objects: commits are listed, compared and read, never checked out.

Fetched content is untrusted: git runs no hook, filter or helper, follows no link or submodule, and never asks for a
password.  The configuration of the user and the machine is ignored.
"""

from incumbent.files.git.process import is_id
from incumbent.files.git.snapshot import CommitSnapshot
from incumbent.files.git.store import ChangedFile, ObjectStore, blob_id, tree_id

__all__ = ["ChangedFile", "CommitSnapshot", "ObjectStore", "blob_id", "is_id", "tree_id"]
