"""One file a page; each asks, starts jobs and shows figures."""
