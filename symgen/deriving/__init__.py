"""Selection and derivation: from a description to programs or SymPy expressions.

select        RobotDescription, BuildOptions -> Selection          selection
derive_all    RobotDescription, Selection    -> Derived            derivation
package_of    Derived                        -> Package            packaging
derive_symbolically   RobotDescription, name -> SymbolicDynamics   symbolic
"""
