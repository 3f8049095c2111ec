"""Packaging: Derived -> Package, the programs and metadata that emission takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import Derived, cost, out_of_range
from symgen.deriving.digest import model_hash
from symgen.deriving.selection import Selection, provided_by, who_derives
from symgen.description.expressions import evaluate as value_of
from symgen.description.figure import figure
from symgen.description.model import RobotDescription
from symgen.emit.bundle import Fact, ModuleMetadata, Package, Sparsity
from symgen.emit.text import plain
from symgen.formulations import FORMULATIONS
from symgen.kinematics.loops import loop_axes, row_units, velocity_rows
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import KinematicTree, build_tree, coordinate_units
from symgen.optimize.operations import OperationCount
from symgen.options import DEFAULT
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.runtime.configuration import Configuration
from symgen.runtime.joint_terms import LOSS_DEFAULTS
from symgen.validation.conditioning import condition, mass_terms
from symgen.version import __version__


def package_of(description: RobotDescription, derived: Derived, equal: bool = False) -> Package:
    """Combine the selected programs with the module's metadata, for emission.

    `equal`: see `symgen.emit.bundle.Package`.
    """
    selection, programs = derived.selection, derived.built
    counts = {(report.formulation, report.function): report.after for report in derived.reports}
    fastest = {}
    for function in selection.functions:
        able = [name for name in programs if function in programs[name]]
        costs = [cost(counts[name, function]) for name in able]
        fastest[function] = able[costs.index(min(costs))]
    metadata = _metadata(description, selection, derived, counts)
    return Package(metadata, programs, fastest, _missing(selection, derived.tree), equal)


def bare_package(
    description: RobotDescription, selection: Selection, equal: bool = False
) -> Package:
    """Return the package before derivation: without programs."""
    tree = build_tree(description, Graph(), selection.runtime_parameters)
    nothing = replace(selection, built={})
    return package_of(description, Derived(nothing, {}, {}, (), tree), equal)


def _missing(selection: Selection, tree: KinematicTree[Scalar]) -> dict[str, str]:
    """Messages of `module.<function>` for functions that were not built."""
    missing: dict[str, str] = {}
    provided = provided_by(selection.formulations, tree)
    for name in FUNCTION_NAMES:
        if name in selection.functions:
            continue
        if name in selection.inapplicable:
            missing[name] = f"{name} was not built: {selection.inapplicable[name]}"
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
    """Return the functions to request so that `name` is built together with the present ones."""
    usual = {x for x in provided if not function_named(x).on_request} - set(selection.inapplicable)
    if not usual <= set(selection.functions):
        return [*selection.functions, name]
    return [DEFAULT, *(x for x in selection.functions if x not in usual), name]


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
            operations.setdefault(formulation, {})[function] = asdict(count)
    return ModuleMetadata(
        name=description.name,
        description=description.description,
        sizes=tree.sizes,
        coordinate_names=tuple(joint.name for joint in tree.independent),
        link_names=tuple(frame.name for frame in tree.frames),
        load_names=tuple(load.name for load in tree.loads),
        point_names=tuple(point.name for point in tree.points),
        parameter_names=tree.runtime_parameters,
        default_parameters=tuple(
            description.parameter_values[name] for name in tree.runtime_parameters
        ),
        limits=tuple(limits for joint in description.independent_joints for limits in joint.limits),
        model_hash=model_hash(description),
        symgen_version=__version__,
        facts=_facts(description, derived),
        joint_links={joint.name: joint.link.name for joint in description.joints},
        file_names=description.file_names,
        joint_parents=topology(tree).joint_parents,
        joint_coordinates=tree.coordinate_numbers if tree.is_coupled else (),
        prescribed=tuple(joint.prescribed for joint in tree.independent),
        output_names=tuple(output.name for output in tree.outputs),
        constraint_names=tree.constraint_names,
        loop_names=tuple(loop.name for loop in tree.loops),
        row_units=row_units(description) if tree.constraint_names else (),
        velocity_rows=velocity_rows(description),
        position_names=description.position_names if tree.manifolds else (),
        quaternions=tree.quaternions,
        tied=tree.tied,
        operation_counts=operations,
    )


_ARRAY = "Array"
_NAMES = "tuple[str, ...]"
_NUMBERS = "tuple[int, ...]"


def _facts(description: RobotDescription, derived: Derived) -> dict[str, Fact]:
    """Metadata of the module that no code is printed from, at the parameters of the file."""
    tree, values, terms = derived.tree, description.parameter_values, condition(description)
    robot = topology(tree)
    gravity = [value_of(x, values) for x in description.gravity]
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints, start=1)}
    parents = tuple(numbers.get(joint.parent, 0) for joint in description.joints)
    links = tuple(numbers.get(point.link, 0) for point in description.points)
    joints = description.independent_joints
    actuated = tuple(
        joint.actuated and (joint.natural is None or name == joint.name)
        for joint in joints
        for name in joint.coordinate_names
    )
    drawn = {**figure(description), "units": coordinate_units(tree)}
    facts = {
        "inertial_parameters": Fact(_ARRAY, _inertial_parameters(description, tree)),
        "joint_terms": Fact("dict[str, Array]", _joint_terms(description)),
        "actuated": Fact("tuple[bool, ...]", actuated),
        "link_parents": Fact(_NUMBERS, parents),
        "point_links": Fact(_NUMBERS, links),
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
        "_figure": Fact("str", json.dumps(drawn)),
    }
    if tree.is_natural:
        facts["_natural"] = Fact("bool", True)
    if tree.forces:
        facts["force_names"] = Fact(_NAMES, tuple(force.name for force in tree.forces))
        facts["force_types"] = Fact(_NAMES, tuple(force.type for force in tree.forces))
    sizes = mass_terms(description, terms)
    if sizes is not None and len(sizes):
        facts["mass_terms"] = Fact("tuple[float, ...]", tuple(sizes.tolist()))
    return facts


def _coupling(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Fact]:
    """S and o of the positions S q + o of all joints, if some follow others."""
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
    """Return the initial state of a file that has one, and the axes that frames of loops share."""
    if not (tree.constraint_names or description.initial):
        return {}
    q, qd = map(list, description.initial_state)
    space = Configuration(len(qd), tree.quaternions)
    state = {
        "initial_q": Fact(_ARRAY, space.normalize(q).tolist() if space.joints else q),
        "initial_qd": Fact(_ARRAY, qd),
    }
    if not tree.constraint_names:
        return state
    drives = tuple((drive.name, drive.key) for drive in description.initial_drives)
    return {
        "_loop_axes": Fact("Any", loop_axes(description)),
        "_initial_drives": Fact("Any", drives),
        "_timed_relations": Fact("bool", any(x.is_timed for x in description.relations)), **state,
    }  # fmt: skip


def _output_sparsity(derived: Derived) -> dict[str, Sparsity]:
    """Structurally nonzero entries of each derivative of the outputs."""
    function = "outputs_derivatives"
    programs = [x[function].straight for x in derived.built.values() if function in x]
    program = next((program for program in programs if program is not None), None)
    sparsity = {}
    for array in program.outputs[1:] if program else ():
        positions = tuple(k for k, entry in enumerate(array.entries) if not entry.is_zero)
        sparsity[array.name] = Sparsity(array.shape, positions)
    return sparsity


def _inertial_parameters(description: RobotDescription, tree: KinematicTree[Scalar]) -> list[float]:
    """Ten values for every moving body, in the order of the regressor's columns.

    Functions are rounded as in programs, so that values do not depend on the machine.
    """
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    try:
        parameters = evaluate(tree.inertial_parameters, values, over_graph(graph))
    except (ArithmeticError, ValueError) as error:
        raise out_of_range(description, "inertial_parameters", error) from error
    return [parameter.value for parameter in parameters]


def _joint_terms(description: RobotDescription) -> dict[str, list[float]]:
    """Values of drives, bearings and springs, one per coordinate; rotor inertias reflected."""
    values = description.parameter_values
    read = [terms for joint in description.joints for terms in joint.terms]
    terms = [terms.complete for terms in read]

    def column(key: str) -> list[float]:
        return [value_of(getattr(term, key), values) for term in terms]

    rotors = zip(column("gear_ratio"), column("rotor_inertia"), strict=True)
    kept = ["damping", "stiffness", "rest", "friction", "friction_velocity"]
    more = (*LOSS_DEFAULTS, "stribeck_velocity")
    kept += [key for key in more if any(getattr(x, key) is not None for x in read)]
    reflected = [ratio * ratio * inertia for ratio, inertia in rotors]
    metadata = {"reflected_inertia": reflected, **{key: column(key) for key in kept}}
    if any(joint.rest for joint in description.joints):
        rest = [x for joint in description.independent_joints for x in joint.rest_entries]
        metadata["rest_configuration"] = [value_of(x, values) for x in rest]
    masses: list[float] = []
    for joint in description.joints:
        sliding = 0 if joint.manifold is None else joint.manifold.quaternion
        masses += [value_of(joint.added_mass, values)] * sliding
        masses += [0.0] * (joint.coordinates - sliding)
    if any(masses):
        metadata["added_mass"] = masses
    return metadata
