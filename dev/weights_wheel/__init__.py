"""The weights of the embedding as a wheel of data alone, for every platform."""
