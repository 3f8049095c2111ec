"""How the documentation is made: what Sphinx calls, and what the tests run of its pages.

`site` is the extension of Sphinx.  `notation` turns docstrings of formulations into tables,
`commands`, `model_file`, `module` and `python` write the reference from the code, `mathematics`
turns formulas into MathML, `snippets` runs what a page shows, `links` looks for links that lead
nowhere.
"""
