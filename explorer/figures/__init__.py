"""Pure functions from results to plotly figures."""
