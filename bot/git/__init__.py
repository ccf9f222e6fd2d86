"""A git repository as a store of objects: commits are listed, compared and read, and nothing is ever checked out.

Whatever was fetched is hostile: git runs no hook, filter or helper for it, follows no link and no submodule, and asks
nobody for a password.  No configuration of the user or the machine changes what is read.
"""

from bot.git.process import is_id
from bot.git.snapshot import CommitSnapshot
from bot.git.store import ChangedFile, ObjectStore, blob_id

__all__ = ["ChangedFile", "CommitSnapshot", "ObjectStore", "blob_id", "is_id"]
