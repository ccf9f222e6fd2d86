"""One module (or folder) per eval-set format; each binds ``READER``."""
