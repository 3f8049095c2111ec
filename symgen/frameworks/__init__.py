"""Generated functions inside JAX, PyTorch and CasADi, with their exact first derivatives.

    functions   ->  Differentiable      a generated function, and its derivatives by every argument
    jax         ->  Functions           `jax.custom_jvp`: both modes, jit, vmap
    pytorch     ->  Functions           `torch.autograd.Function`: both modes, vmap
    casadi      ->  Functions           `casadi.Callback`, and one more for the Jacobian

The libraries call the generated module, whose derivatives are analytic, and multiply matrices, or
call its products where it has them.  Only PyTorch has derivatives of second order, for modules with
Hessians times a direction.
"""
