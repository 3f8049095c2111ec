/* What a step of symgen-mechanism.h is for direct sensitivities and objectives.
 *
 * As in symgen/simulation/fixed_steps.py, with the same names; numbers in parentheses are
 * those of the equations in Lopez Varela, Dopico and Luaces (2023).
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_SENSITIVITIES_H
#define SYMGEN_SENSITIVITIES_H

static const double DIFFERENCE = 1e-6;

/* felt = A e beside the step, where its state and parameters have moved by so much of sensitivity k. */
static void look_beside(const struct symgen_work *w, int k, double move, double h, const double *e)
{
    const struct symgen_mechanism *const of = w->of;
    const int n = of->n, m = of->m, s = w->asked->s, number = w->asked->parameter[k];
    struct symgen_work other = *w, *const o = &other;
    arrange_beside(o, w->beside);
    for (int i = 0; i < n; ++i) {
        o->qd[i] = w->qd[i] + move * w->d_qd[i * s + k];
        o->qdd[i] = w->qdd[i] + move * w->d_qdd[i * s + k];
        o->moved[i] = move * w->next.d_q[i * s + k];
    }
    for (int i = 0; i < m; ++i) o->next.lam[i] = w->next.lam[i] + move * w->next.d_lam[i * s + k];
    integrate(of->joint, of->joints, of->nq, w->next.q, o->moved, o->next.q);
    if (of->p) memcpy(o->scratch, w->asked->parameters, sizeof(double) * (size_t)of->p);
    if (number >= 0) o->scratch[number] += move;
    o->known[OF_PARAMETERS] = o->scratch;
    look(o, o->next.q, o->next.lam, h);
    set_product(n, n, 1, o->A, e, o->felt);
}

/* above (n, s) -= A' e, by differences along every sensitivity: e is small, and so is what they round. */
static void subtract_tangent(struct symgen_work *w, double h, const double *e)
{
    const int n = w->of->n, s = w->asked->s;
    struct symgen_work other = *w;
    arrange_beside(&other, w->beside);
    for (int k = 0; k < s; ++k)
        for (int side = 1; side >= -1; side -= 2) {
            look_beside(w, k, side * DIFFERENCE, h, e);
            for (int i = 0; i < n; ++i) w->above[i * s + k] -= side * other.felt[i] / (2.0 * DIFFERENCE);
        }
}

/* above (n, s) -= P' e + (Phi_z' x)_z z' + (Phi_z' x)_rho of (15) and (17); P' is M', A' or 0. */
static void subtract_turned(struct symgen_work *w, double h, const double *value, const double *starred,
                            const double *x)
{
    const int n = w->of->n, s = w->asked->s;
    const double *const q = w->next.q;
    double *pulled[] = {w->pull, w->curved};
    double *felt[] = {w->scratch, w->scratch + n, w->scratch + n + n * n, w->scratch + n + 2 * n * n};
    w->known[OF_MULTIPLIERS] = x;
    run(w, TORQUE, pulled);
    add_product(n, n, s, -1.0, w->curved, w->next.d_q, w->above);
    add_by_parameters(w, TORQUE_P, n, -1.0, w->above);
    if (w->asked->P) return;
    if (w->asked->tangent) {
        for (int i = 0; i < n; ++i) w->moved[i] = value[i] - starred[i];
        subtract_tangent(w, h, w->moved);
        return;
    }
    /* M' e: inverse dynamics, whose accelerations are moved by e */
    for (int i = 0; i < n; ++i) w->moved[i] = w->qdd[i] + (value[i] - starred[i]);
    set_motion(w, q, w->qd, w->moved);
    run(w, INVERSE_DYNAMICS, felt);
    for (int i = 0; i < n * n; ++i) felt[1][i] -= w->by_q[i];
    add_product(n, n, s, -1.0, felt[1], w->next.d_q, w->above);
    add_by_parameters(w, INVERSE_DYNAMICS_P, n, -1.0, w->above);
    set_motion(w, q, w->qd, w->qdd);
    add_by_parameters(w, INVERSE_DYNAMICS_P, n, 1.0, w->above);
}

/* value' = z*' + e' of (15) or (17); `rate` is what they have in their last brackets, all but J z*'. */
static void project_derivatives(struct symgen_work *w, const double *d_starred, double *d_value,
                                double *d_multipliers)
{
    const int n = w->of->n, m = w->of->m, s = w->asked->s;
    add_product(m, n, s, 1.0, w->J, d_starred, w->below);
    for (int i = 0; i < m * s; ++i) w->below[i] = -w->below[i];
    solve(&w->right, n, m, s, w->above, w->below, w->asked->projections, w->x);
    memcpy(d_multipliers, w->x + n * s, sizeof(double) * (size_t)(m * s));
    for (int i = 0; i < n * s; ++i) d_value[i] = d_starred[i] + w->x[i];
}

/* z', z*d' and z*dd' of `next`, with the change x (n, s) beyond the first guess. */
static void place_derivatives(struct symgen_work *w, double h, const double *x)
{
    const int n = w->of->n, s = w->asked->s, curved = w->of->joints > 0;
    const struct symgen_state *const old = &w->state;
    double *const moved = curved ? w->along : w->next.d_q;
    starred(n * s, h, x, curved ? w->none : old->d_q, old->d_qd, old->d_qdd, moved, w->d_qd, w->d_qdd);
    if (!curved) return;
    for (int i = 0; i < n * s; ++i) w->next.d_q[i] = old->d_q[i] + moved[i];
    add_turned_rows(w->of->joint, w->of->joints, s, w->carry, old->d_q, w->next.d_q);
    add_turned_rows(w->of->joint, w->of->joints, s, w->turn, moved, w->next.d_q);
}

/* below (m, s) of (14) -= h/2 (r_zd z*d' + r_rho) in the rows of constraints of velocities. */
static void subtract_rates(struct symgen_work *w, double h)
{
    const int n = w->of->n, m = w->of->m, s = w->asked->s;
    double *const rates = w->last;
    if (!w->of->velocities) return;
    set_product(m, n, s, w->J, w->d_qd, rates);
    add_by_parameters(w, RATES_P, m, 1.0, rates);
    for (int i = 0; i < m * s; ++i)
        if (w->of->velocity_row[i / s]) w->below[i] -= 0.5 * h * rates[i];
}

static void sensitivities(struct symgen_work *w, double h)
{
    const int n = w->of->n, m = w->of->m, s = w->asked->s;
    const double scale = 0.25 * h * h, *const zero = w->none;
    struct symgen_state *const next = &w->next;
    double *second[] = {w->second, w->second_q, w->second_qd};
    const double *const by_z = w->of->velocities ? w->by_z : w->J;

    /* (14), for what is missing to the first guess */
    place_derivatives(w, h, zero);
    memcpy(w->above, zero, sizeof(double) * (size_t)(n * s));
    memcpy(w->below, zero, sizeof(double) * (size_t)(m * s));
    set_motion(w, next->q, w->qd, w->qdd);
    w->known[OF_MULTIPLIERS] = next->lam;
    add_by_parameters(w, INVERSE_DYNAMICS_P, n, -scale, w->above);
    add_by_parameters(w, TORQUE_P, n, -scale, w->above);
    add_by_parameters(w, CONSTRAINTS_P, m, -1.0, w->below);
    add_product(n, n, s, -scale, w->K, next->d_q, w->above);
    add_product(n, n, s, -scale, w->C, w->d_qd, w->above);
    add_product(n, n, s, -scale, w->M, w->d_qdd, w->above);
    add_product(m, n, s, -1.0, by_z, next->d_q, w->below);
    subtract_rates(w, h);
    settle(&w->left, n, m, s, w->above, w->below, w->x, w->last);
    place_derivatives(w, h, w->x);
    for (int i = 0; i < m * s; ++i) next->d_lam[i] = w->x[n * s + i] / scale;

    /* (15), (16) */
    memcpy(w->above, zero, sizeof(double) * (size_t)(n * s));
    memcpy(w->below, zero, sizeof(double) * (size_t)(m * s));
    subtract_turned(w, h, next->qd, w->qd, next->sigma);
    set_motion(w, next->q, next->qd, next->qdd);
    run(w, RATE_SLOPES, second);
    add_product(m, n, s, 1.0, w->second_q, next->d_q, w->below);
    add_by_parameters(w, RATES_P, m, 1.0, w->below);
    project_derivatives(w, w->d_qd, next->d_qd, next->d_sigma);

    /* (17), (18) */
    memcpy(w->above, zero, sizeof(double) * (size_t)(n * s));
    memcpy(w->below, zero, sizeof(double) * (size_t)(m * s));
    subtract_turned(w, h, next->qdd, w->qdd, next->kappa);
    set_motion(w, next->q, next->qd, next->qdd);
    run(w, ACCELERATION, second);
    add_product(m, n, s, 1.0, w->second_q, next->d_q, w->below);
    add_product(m, n, s, 1.0, w->second_qd, next->d_qd, w->below);
    add_by_parameters(w, ACCELERATION_P, m, 1.0, w->below);
    project_derivatives(w, w->d_qdd, next->d_qdd, next->d_kappa);
}

/* ---- objectives: (12), (13) by the trapezoidal rule ---- */

/* The multipliers, or with `s` their derivatives, that outputs mention: projections in M, or nearly so,
 * make lambda + kappa of second order in the step.  The signs are those of the module. */
static void tell(const struct symgen_work *w, size_t s, const double *lam, const double *sigma,
                 const double *kappa, double *told)
{
    const size_t size = (size_t)w->of->m * s;
    for (size_t i = 0; i < size; ++i) {
        told[i] = -(w->asked->P ? lam[i] : lam[i] + kappa[i]);
        told[size + i] = -sigma[i];
        told[2 * size + i] = -kappa[i];
    }
}

static void evaluate_objectives(struct symgen_work *w, double *integrand)
{
    const int n = w->of->n, p = w->of->p, s = w->asked->s, count = w->asked->objectives;
    const int told = 3 * w->of->m;
    const struct symgen_state *const at = &w->state;
    const double *const along[] = {at->d_q, at->d_qd, at->d_qdd};
    if (!count) return;
    set_motion(w, at->q, at->qd, at->qdd);
    if (w->of->tells) {
        tell(w, 1, at->lam, at->sigma, at->kappa, w->told);
        tell(w, (size_t)s, at->d_lam, at->d_sigma, at->d_kappa, w->d_told);
        w->known[OF_MOTION_MULTIPLIERS] = w->told;
        if (s) run(w, OUTPUTS_MULTIPLIERS, &w->of_told);
    }
    run(w, s ? OUTPUTS_SLOPES : OUTPUTS, w->of_outputs);
    for (int i = 0; i < count; ++i) {
        const int o = w->asked->objective[i];
        double *const gradient = integrand + count + i * s;
        integrand[i] = w->of_outputs[0][o];
        memset(gradient, 0, sizeof(double) * (size_t)s);
        for (int which = 0; which < 3 && s; ++which)
            add_product(1, n, s, 1.0, w->of_outputs[2 + which] + o * n, along[which], gradient);
        if (w->of->tells && s) add_product(1, told, s, 1.0, w->of_told + o * told, w->d_told, gradient);
        for (int k = 0; k < s; ++k)
            if (w->asked->parameter[k] >= 0) gradient[k] += w->of_outputs[7][o * p + w->asked->parameter[k]];
    }
}

static void add_to_integrals(struct symgen_work *w, double h, double *integrals)
{
    const int size = w->asked->objectives * (1 + w->asked->s);
    evaluate_objectives(w, w->integrand);
    for (int i = 0; i < size; ++i) {
        integrals[i] += 0.5 * h * (w->integrand_before[i] + w->integrand[i]);
        w->integrand_before[i] = w->integrand[i];
    }
}

#endif
