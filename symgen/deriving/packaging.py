"""From what was derived to what emission takes: programs, metadata, what was not built.

package_of    Derived -> Package
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import Derived, cost, out_of_range
from symgen.deriving.digest import model_hash
from symgen.deriving.selection import Selection, provided_by, who_derives
from symgen.description.expressions import evaluate as value_of
from symgen.description.model import JointDescription, RobotDescription
from symgen.emit.bundle import Fact, Limits, ModuleMetadata, Package, Sparsity
from symgen.emit.text import plain
from symgen.formulations import FORMULATIONS
from symgen.kinematics.loops import loop_axes, row_units
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.optimize.operations import OperationCount
from symgen.options import DEFAULT
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.program import Output
from symgen.runtime.configuration import Configuration
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
    tree = derived.tree
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
        facts=_facts(description, derived),
        joint_links={joint.name: joint.link.name for joint in description.joints},
        joint_parents=topology(tree).joint_parents,
        joint_coordinates=tree.coordinate_numbers if tree.is_coupled else (),
        prescribed=tuple(joint.prescribed for joint in tree.independent),
        output_names=tuple(output.name for output in tree.outputs),
        constraint_names=tree.constraint_names,
        loop_names=tuple(loop.name for loop in tree.loops),
        row_units=row_units(description) if tree.constraint_names else (),
        position_names=description.position_names if tree.manifolds else (),
        quaternions=tree.quaternions,
        timed=tree.is_timed,
        tells_multipliers=tree.tells_multipliers,
        tied=tree.tied,
        operation_counts=operations,
    )


_ARRAY = "Array"
_NAMES = "tuple[str, ...]"
_NUMBERS = "tuple[int, ...]"


def _facts(description: RobotDescription, derived: Derived) -> dict[str, Fact]:
    """Return what the module shows and is not printed from, with the values of the file."""
    tree, values, terms = derived.tree, description.parameter_values, condition(description)
    robot = topology(tree)
    gravity = [value_of(x, values) for x in description.gravity]
    facts = {
        "inertial_parameters": Fact(_ARRAY, _inertial_parameters(description, tree)),
        "joint_terms": Fact("dict[str, Array]", _joint_terms(description)),
        "link_parents": Fact(_NUMBERS, _link_parents(description)),
        "gravity": Fact(_ARRAY, gravity),
        "branches": Fact("tuple[tuple[int, ...], ...]", robot.branches),
        "branch_parents": Fact(_NUMBERS, robot.branch_parents),
        "joint_branches": Fact("tuple[tuple[int, int], ...]", robot.joint_branches),
        "junctions": Fact(_NUMBERS, robot.junctions),
        "leaves": Fact(_NUMBERS, robot.leaves),
        **_coupling(description, tree),
        **_mechanism(description, tree),
        "output_units": Fact(_NAMES, tuple(plain(output.unit) for output in tree.outputs)),
        "output_sparsity": Fact("dict[str, NDArray[np.bool_]]", _output_sparsity(derived)),
        "condition": Fact("float", terms),
    }
    if tree.forces:
        facts["force_names"] = Fact(_NAMES, tuple(force.name for force in tree.forces))
        facts["force_types"] = Fact(_NAMES, tuple(force.type for force in tree.forces))
    if sizes := _mass_terms(description, terms):
        facts["mass_terms"] = Fact("tuple[float, ...]", sizes)
    return facts


def _link_parents(description: RobotDescription) -> tuple[int, ...]:
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints, start=1)}
    return tuple(numbers.get(joint.parent, 0) for joint in description.joints)


def _coupling(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Fact]:
    """Return S and o of the positions S q + o of all joints, where some follow others."""
    if not tree.is_coupled:
        return {}
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    zero, unit = tree.algebra.zero, tree.algebra.one
    of = [joint.following for joint in tree.joints]
    multipliers = [unit if x is None else x.multiplier for x in of]
    offsets = [zero if x is None else x.offset for x in of]
    law = [x.value for x in evaluate([*multipliers, *offsets], values, over_graph(graph))]
    numbers = range(1, len(tree.independent) + 1)
    pairs = zip(law, tree.coordinate_numbers, strict=False)
    coupling = [tuple(s if k == leader else 0.0 for k in numbers) for s, leader in pairs]
    return {
        "joint_names": Fact(_NAMES, tuple(joint.name for joint in tree.joints)),
        "joint_coordinates": Fact(_NUMBERS, tree.coordinate_numbers),
        "coupling": Fact(_ARRAY, coupling),
        "coupling_offsets": Fact(_ARRAY, law[tree.n :]),
    }


def _mechanism(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Fact]:
    """Return drives, the axes that frames of closed loops share, and where motions begin."""
    if not tree.constraint_names:
        return {}
    values = description.parameter_values
    independent = [joint for joint in description.joints if joint.mimic is None]
    actuated = tuple(joint.actuated for joint in independent for _ in joint.coordinate_names)
    q = [value_of(x, values) for x in description.initial_q]
    qd = [value_of(x, values) for x in description.initial_qd]
    space = Configuration(len(qd), tree.quaternions)
    return {
        "actuated": Fact("tuple[bool, ...]", actuated),
        "_loop_axes": Fact("Any", loop_axes(description)),
        "initial_q": Fact(_ARRAY, space.normalize(q).tolist() if space.joints else q),
        "initial_qd": Fact(_ARRAY, qd),
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


def _inertial_parameters(description: RobotDescription, tree: KinematicTree[Scalar]) -> list[float]:
    """Return ten for every moving body, in the order of the regressor's columns.

    Their values, with functions rounded as in programs: the same on every machine.
    """
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    try:
        parameters = evaluate(tree.inertial_parameters, values, over_graph(graph))
    except (ArithmeticError, ValueError) as error:
        raise out_of_range(description, "inertial_parameters", error) from error
    return [parameter.value for parameter in parameters]


def _joint_terms(description: RobotDescription) -> dict[str, list[float]]:
    """The numbers of drives, bearings and springs, one per coordinate; rotors reflected."""
    terms = [terms for joint in description.joints for terms in joint.terms]

    def column(key: str) -> list[float]:
        values = description.parameter_values
        return [value_of(getattr(term, key), values) for term in terms]

    rotors = zip(column("gear_ratio"), column("rotor_inertia"), strict=True)
    kept = ("damping", "stiffness", "rest", "friction", "friction_velocity")
    reflected = [ratio * ratio * inertia for ratio, inertia in rotors]
    metadata = {"reflected_inertia": reflected, **{key: column(key) for key in kept}}
    if any(joint.rest for joint in description.joints):
        independent = [joint for joint in description.joints if joint.mimic is None]
        rest = [x for joint in independent for x in joint.rest_entries]
        values = description.parameter_values
        metadata["rest_configuration"] = [value_of(x, values) for x in rest]
    masses = [_added_masses(description, joint) for joint in description.joints]
    if any(map(any, masses)):
        metadata["added_mass"] = [x for columns in masses for x in columns]
    return metadata


def _added_masses(description: RobotDescription, joint: JointDescription) -> list[float]:
    """Return the added mass of a joint for its coordinates that slide, 0 for others."""
    sliding = 0 if joint.manifold is None else joint.manifold.quaternion
    mass = value_of(joint.added_mass, description.parameter_values)
    return [mass] * sliding + [0.0] * (joint.coordinates - sliding)
