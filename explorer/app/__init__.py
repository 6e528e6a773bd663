"""The Streamlit front end: asks, starts jobs, shows figures. No numerics here."""
