"""Generated functions inside JAX, PyTorch and CasADi, with their exact first derivatives.

    functions   ->  Differentiable      a generated function, and its derivatives by every argument
    jax         ->  Functions           `jax.custom_jvp`: both modes, jit, vmap
    pytorch     ->  Functions           `torch.autograd.Function`: both modes, vmap
    casadi      ->  Functions           `casadi.Callback`, and one more for the Jacobian

None of these libraries sees an equation: they call the generated module, whose derivatives are
analytic, and multiply matrices.  Derivatives of second order are not there.
"""
