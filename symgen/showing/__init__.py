"""`symgen show`: trees, frames, equations and recursions of a model as text and LaTeX.

equations      expanded results, source of one function, poses of frames
steps          a recursion statement by statement, with its notation
tree           the tree of links, its branch matrices, the sparsity of derivatives
typesetting    expressions and matrices as text and as LaTeX
"""
