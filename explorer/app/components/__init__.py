"""Components that run in the browser: the linked view and the clickable figure."""
