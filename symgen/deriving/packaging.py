"""From what was derived to what emission takes: programs, metadata, what was not built.

package_of    Derived -> Package
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import Derived, cost, out_of_range
from symgen.deriving.digest import model_hash
from symgen.deriving.mechanism import mechanism
from symgen.deriving.selection import Selection, provided_by, who_derives
from symgen.description.expressions import evaluate as value_of
from symgen.description.model import JointDescription, RobotDescription
from symgen.emit.bundle import Limits, ModuleMetadata, Package, Sparsity
from symgen.emit.text import plain
from symgen.formulations import FORMULATIONS
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.optimize.operations import OperationCount
from symgen.options import DEFAULT
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.program import Output
from symgen.validation.conditioning import condition, mass_terms
from symgen.version import __version__


def package_of(description: RobotDescription, derived: Derived, equal: bool = False) -> Package:
    """The selected programs with the module's metadata, ready for emission.

    `equal`: see `symgen.emit.bundle.Package`.
    """
    selection, programs = derived.selection, derived.built
    counts = {(report.formulation, report.function): report.after for report in derived.reports}
    return Package(
        metadata=_metadata(description, selection, derived, counts),
        programs=programs,
        fastest={
            function: min(
                (name for name in programs if function in programs[name]),
                key=lambda name: cost(counts[name, function]),
            )
            for function in selection.functions
        },
        missing=_missing(selection, derived.tree),
        equal=equal,
    )


def bare_package(
    description: RobotDescription, selection: Selection, equal: bool = False
) -> Package:
    """The package before anything is derived: no programs, and nothing about them."""
    tree = build_tree(description, Graph(), selection.runtime_parameters)
    nothing = replace(selection, built={})
    return package_of(description, Derived(nothing, {}, {}, (), tree), equal)


def _missing(selection: Selection, tree: KinematicTree[Scalar]) -> dict[str, str]:
    """Return the messages of `module.<function>` for functions that were not built."""
    missing: dict[str, str] = {}
    provided = provided_by(selection.formulations, tree)
    for name in FUNCTION_NAMES:
        if name in selection.functions:
            continue
        if name in selection.senseless:
            missing[name] = f"{name} was not built: {selection.senseless[name]}"
        elif name not in provided:
            missing[name] = f"{name} was not built; {who_derives(name, tree)}"
        else:
            functions = ",".join(_asked_for(selection, provided, name))
            missing[name] = (
                f"{name} was not built; build it with: symgen build MODEL --functions {functions}"
            )
    for item in FORMULATIONS:
        if item.by_default and item.name not in selection.built:
            missing[item.name] = (
                f"the formulation {item.name} was not built; build it with: symgen build MODEL "
                f"--formulations {','.join([*selection.formulations, item.name])}"
            )
    return missing


def _asked_for(selection: Selection, provided: set[str], name: str) -> list[str]:
    """Return the functions to ask for, so that `name` is built with those that were."""
    usual = {x for x in provided if not function_named(x).on_request} - set(selection.senseless)
    if not usual <= set(selection.functions):
        return [*selection.functions, name]
    return [DEFAULT, *(x for x in selection.functions if x not in usual), name]


def _mass_terms(description: RobotDescription, condition: float) -> tuple[float, ...]:
    terms = mass_terms(description, condition)
    return () if terms is None else tuple(terms.tolist())


def _metadata(
    description: RobotDescription,
    selection: Selection,
    derived: Derived,
    counts: Mapping[tuple[str, str], OperationCount],
) -> ModuleMetadata:
    tree, terms = derived.tree, condition(description)
    robot = topology(tree)
    operations: dict[str, dict[str, dict[str, int]]] = {}
    for (formulation, function), count in counts.items():
        if function in selection.built.get(formulation, ()):
            operations.setdefault(formulation, {})[function] = {
                field.name: getattr(count, field.name) for field in fields(count)
            }
    return ModuleMetadata(
        name=description.name,
        description=description.description,
        n=len(tree.independent),
        coordinate_names=tuple(joint.name for joint in tree.independent),
        link_names=tuple(frame.name for frame in tree.frames),
        load_names=tuple(load.name for load in tree.loads),
        point_names=tuple(point.name for point in tree.points),
        parameter_names=tree.runtime_parameters,
        default_parameters=tuple(
            description.parameter_values[name] for name in tree.runtime_parameters
        ),
        limits=tuple(
            Limits(limits.lower, limits.upper, limits.velocity, limits.effort)
            for joint in description.joints
            if joint.mimic is None
            for limits in joint.limits
        ),
        model_hash=model_hash(description),
        symgen_version=__version__,
        condition=terms,
        mass_terms=_mass_terms(description, terms),
        inertial_parameters=_inertial_parameters(description, tree),
        joint_terms=_joint_terms(description),
        prescribed=tuple(joint.prescribed for joint in tree.independent),
        output_names=tuple(output.name for output in tree.outputs),
        output_units=tuple(plain(output.unit) for output in tree.outputs),
        output_sparsity=_output_sparsity(derived),
        link_parents=_link_parents(description),
        joint_links={joint.name: joint.link.name for joint in description.joints},
        gravity=tuple(value_of(x, description.parameter_values) for x in description.gravity),
        joint_parents=robot.joint_parents,
        branches=robot.branches,
        branch_parents=robot.branch_parents,
        joint_branches=robot.joint_branches,
        junctions=robot.junctions,
        leaves=robot.leaves,
        operation_counts=operations,
        force_names=tuple(force.name for force in tree.forces),
        force_types=tuple(force.type for force in tree.forces),
        tied=tree.tied,
        timed=tree.is_timed,
        tells_multipliers=tree.tells_multipliers,
        **_coupling(description, tree),
        **_configuration(description, tree),
        **mechanism(description, tree),
    )


def _link_parents(description: RobotDescription) -> tuple[int, ...]:
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints, start=1)}
    return tuple(numbers.get(joint.parent, 0) for joint in description.joints)


def _coupling(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Any]:
    """Return the metadata of joints that follow others, with the values of the file."""
    if not tree.is_coupled:
        return {}
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    zero, unit = tree.algebra.zero, tree.algebra.one
    of = [joint.following for joint in tree.joints]
    multipliers = [unit if x is None else x.multiplier for x in of]
    offsets = [zero if x is None else x.offset for x in of]
    numbers_of_law = [
        x.value for x in evaluate([*multipliers, *offsets], values, over_graph(graph))
    ]
    numbers = range(1, len(tree.independent) + 1)
    pairs = zip(numbers_of_law, tree.coordinate_numbers, strict=False)
    return {
        "joint_names": tuple(joint.name for joint in tree.joints),
        "joint_coordinates": tree.coordinate_numbers,
        "coupling": tuple(tuple(s if k == leader else 0.0 for k in numbers) for s, leader in pairs),
        "coupling_offsets": tuple(numbers_of_law[tree.n :]),
    }


def _configuration(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Any]:
    """Return the metadata of joints on manifolds."""
    if not tree.manifolds:
        return {}
    return {
        "position_names": description.position_names,
        "quaternions": tree.quaternions,
    }


def _output_sparsity(derived: Derived) -> dict[str, Sparsity]:
    """Return, by derivative of the outputs, its entries that can differ from 0."""
    function = "outputs_derivatives"
    programs = [x[function].straight for x in derived.built.values() if function in x]
    program = next((program for program in programs if program is not None), None)
    jacobians = program.outputs[1:] if program else ()
    return {array.name: _sparsity(array) for array in jacobians}


def _sparsity(array: Output[Scalar]) -> Sparsity:
    positions = (k for k, entry in enumerate(array.entries) if not entry.is_zero)
    return Sparsity(array.shape, tuple(positions))


def _inertial_parameters(
    description: RobotDescription, tree: KinematicTree[Scalar]
) -> tuple[float, ...]:
    """Their values, with functions rounded as in programs: the same on every machine."""
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    try:
        parameters = evaluate(tree.inertial_parameters, values, over_graph(graph))
    except (ArithmeticError, ValueError) as error:
        raise out_of_range(description, "inertial_parameters", error) from error
    return tuple(parameter.value for parameter in parameters)


def _joint_terms(description: RobotDescription) -> dict[str, tuple[float, ...]]:
    """The numbers of drives, bearings and springs, one per coordinate; rotors reflected."""
    terms = [terms for joint in description.joints for terms in joint.terms]

    def column(key: str) -> tuple[float, ...]:
        values = description.parameter_values
        return tuple(value_of(getattr(term, key), values) for term in terms)

    rotors = zip(column("gear_ratio"), column("rotor_inertia"), strict=True)
    kept = ("damping", "stiffness", "rest", "friction", "friction_velocity")
    reflected = tuple(ratio * ratio * inertia for ratio, inertia in rotors)
    metadata = {"reflected_inertia": reflected, **{key: column(key) for key in kept}}
    if any(joint.rest for joint in description.joints):
        independent = [joint for joint in description.joints if joint.mimic is None]
        rest = [x for joint in independent for x in joint.rest_entries]
        values = description.parameter_values
        metadata["rest_configuration"] = tuple(value_of(x, values) for x in rest)
    masses = [_added_masses(description, joint) for joint in description.joints]
    if any(map(any, masses)):
        metadata["added_mass"] = tuple(x for columns in masses for x in columns)
    return metadata


def _added_masses(description: RobotDescription, joint: JointDescription) -> list[float]:
    """Return the added mass of a joint for its coordinates that slide, 0 for others."""
    sliding = 0 if joint.manifold is None else joint.manifold.quaternion
    mass = value_of(joint.added_mass, description.parameter_values)
    return [mass] * sliding + [0.0] * (joint.coordinates - sliding)
