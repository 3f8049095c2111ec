"""Settings of Sphinx: `make docs` builds the pages of this folder into site/.

Sphinx has been maintained for many years, builds offline, and inserts content generated from the
code (`manual.site`).  The site loads no external resources.
"""

project = "symgen"
html_title = "symgen"
author = "symgen developers"
copyright = author  # shown in the page footer
extensions = ["myst_parser", "manual.site"]
exclude_patterns = ["pictures"]
suppress_warnings: list[str] = []

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "vs"
pygments_dark_style = "github-dark"
