"""`symgen show`: trees, frames, equations and recursions of a model as text and LaTeX.

equations      results written out, source of one function, poses of frames
steps          a recursion statement by statement, under its notation
tree           the tree of links, its branch matrices, where derivatives can be
typesetting    expressions and matrices as text and as LaTeX
"""
