"""Maps from one representation to another, fitted on some items and judged on the others."""
