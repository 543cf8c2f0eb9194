"""How Sphinx builds these pages: `sphinx-build docs build/docs`, with sphinx and myst-parser installed."""

project = "baseload"
author = "The baseload authors"
extensions = ["myst_parser"]
html_theme = "alabaster"
