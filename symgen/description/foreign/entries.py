"""Tables of the entries of URDF and SDF, and the comparison of a document with its table.

A table lists every element and attribute in the published description of a format with its use:

| use | meaning |
| --- | --- |
| read | part of the model |
| no effect | without effect on the dynamics: appearance, contacts, sensors, simulator settings |
| left out | acts, but has no key: a warning names its effect |
| refused | the model would be useless without it: a fault |

A line of a table has paths of elements, each followed by its attributes: ``robot/joint @name
@type``.  A path that ends with ``/`` is the prefix of all following ones in the line; ``...`` after
an element stands for all unlisted contents.  For entries that are left out the line has the neutral
values and the effect: ``link/gravity = true 1 : the link would have no weight``.

A warning names entries that are not in the table, with the nearest one.  Entries of one kind give
one warning, with the position of the first and their number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from symgen.description.foreign.xml import Element, Faults, line_of
from symgen.description.wording import in_line, shown

_MOST_NAMED = 6
_NAMES_OF_PARTS = ("link", "joint", "transmission", "body", "model", "world", "frame")


class Use(StrEnum):
    """The use of an entry of a format."""

    READ = "read"
    NO_EFFECT = "no effect"
    LEFT_OUT = "left out"
    REFUSED = "refused"


@dataclass(frozen=True)
class Entry:
    """An element or attribute: its use; where it acts, the effect and the values without any."""

    use: Use
    effect: str = ""
    neutral: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """The table of a format, from one text of lines for each use.

    Elements with a name in `parts` start a new path wherever they occur.
    """

    name: str
    read: str
    no_effect: str
    left_out: str = ""
    refused: str = ""
    parts: tuple[str, ...] = ()
    entries: dict[str, Entry] = field(default_factory=dict)
    """Entries by path, ``robot/joint`` or ``robot/joint@name``."""
    whole: set[str] = field(default_factory=set)
    """Paths of elements whose contents have the use of the element."""
    opened: set[str] = field(default_factory=set)
    """Paths of elements with inner elements or attributes in the table."""

    def __post_init__(self) -> None:
        texts = (self.read, self.no_effect, self.left_out, self.refused)
        for use, text in zip(Use, texts, strict=True):
            for line in filter(str.strip, text.splitlines()):
                self._take(use, line)
        for path in self.entries:
            element, _, attribute = path.partition("@")
            parents = element.split("/")
            self.opened.update("/".join(parents[:k]) for k in range(1, len(parents)))
            self.opened.update([element] if attribute else [])

    def _take(self, use: Use, line: str) -> None:
        names, _, effect = line.partition(" : ")
        names, _, neutral = names.partition(" = ")
        entry = Entry(use, effect.strip(), tuple(neutral.split()))
        ahead, path = "", ""
        words = names.split()
        for word, after in zip(words, [*words[1:], ""], strict=True):
            if word.startswith("@"):
                self.entries[path + word] = entry
            elif word.endswith("/"):
                ahead = word
            else:
                path = ahead + word.removesuffix("...")
                self.whole.update([path] if word.endswith("...") else [])
                if after.startswith("@"):
                    self.entries.setdefault(path, entry)
                else:
                    self.entries[path] = entry

    def entry(self, path: str) -> Entry | None:
        """Return the entry of a path; None if the table has none."""
        if path in self.entries:
            return self.entries[path]
        element = path.partition("@")[0]
        while element:
            if element in self.whole:
                return self.entries[element]
            element = element.rpartition("/")[0]
        return None

    def below(self, path: str, element: Element) -> str:
        """Return the path of a child of the element at `path`."""
        return element.tag if element.tag in self.parts else f"{path}/{element.tag}"

    def names_in(self, path: str, mark: str) -> list[str]:
        """Names of the children (`mark` is ``/``) or attributes (``@``) of an element."""
        start = path + mark
        behind = (name[len(start) :] for name in self.entries if name.startswith(start))
        names = [name for name in behind if "/" not in name and "@" not in name]
        return names if mark == "@" else [*names, *self.parts]


@dataclass
class _Walk:
    """A walk over a document; `unknown` maps unknown entries to their first element."""

    table: Format
    faults: Faults
    unknown: dict[str, Element] = field(default_factory=dict)

    def visit(self, top: Element, path: str, key: str, apart: Collection[str]) -> None:
        """Compare an element and its contents with the table, without children called `apart`."""
        waiting = [(top, path, key)]
        while waiting:
            element, path, key = waiting.pop()
            named = element.tag in _NAMES_OF_PARTS and element.attributes.get("name")
            if element is not top and (named or not key):
                key = f"{element.tag}.{named}" if named else element.tag
            self.hold(element, path, element.text, key)
            closed = path not in self.table.opened and path not in self.table.entries
            if closed or (path in self.table.whole and path not in self.table.opened):
                continue  # of one use, or unknown, entirely
            for name, value in element.attributes.items():
                if not name.startswith("xmlns"):
                    self.hold(element, f"{path}@{name}", value, key)
            inner = [x for x in reversed(element.children) if x.tag not in apart]
            waiting += [(x, self.table.below(path, x), key) for x in inner]

    def hold(self, element: Element, path: str, value: str, key: str) -> None:
        """Compare an element, or an attribute and its value, with the table."""
        entry = self.table.entry(path)
        if entry is None:
            self.take_unknown(element, path, key)
        elif entry.effect and not _is_neutral(value, entry.neutral):
            words = f"{_written(path)} is left out: {entry.effect}"
            if entry.use == Use.REFUSED:
                self.faults.add(element, key, f"{_written(path)}: {entry.effect}")
            else:
                self.faults.warn(element, key, words)

    def take_unknown(self, element: Element, path: str, key: str) -> None:
        """Warn of an entry that is not in the table, or collect it if none is near."""
        mark = "@" if "@" in path else "/"
        of, _, name = path.rpartition(mark)
        meant = self.faults.nearest(name, self.table.names_in(of, mark))
        if not meant:
            self.unknown.setdefault(_written(path), element)
        elif mark == "@":
            words = f"{shown(name)} is left out; did you mean {shown(meant)}?"
            self.faults.warn(element, f"{key}.{element.tag}", words)
        else:
            words = f"<{in_line(name)}> is left out; did you mean <{meant}>?"
            self.faults.warn(element, key, words)

    def report_unknown(self) -> None:
        """Warn once of all other entries that are not in the table."""
        if self.unknown:
            names = [f"{x} (line {line_of(element)})" for x, element in self.unknown.items()]
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            words = f"not part of {self.table.name}, and left out: "
            first = next(iter(self.unknown.values()))
            self.faults.warn(first, "", words + ", ".join(names[:_MOST_NAMED]) + more)


def remark(
    table: Format,
    tops: Iterable[tuple[Element, str, str]],
    faults: Faults,
    apart: Collection[str] = (),
) -> None:
    """Warn of entries that are left out, and record refused ones as faults.

    Args:
        table: the table of the format.
        tops: elements with their paths and their names in messages.
        faults: collects the warnings and faults.
        apart: names of elements to skip, because they are tops themselves.
    """
    walk = _Walk(table, faults)
    for element, path, key in tops:
        walk.visit(element, path, key, apart)
    walk.report_unknown()


def _written(path: str) -> str:
    """Return a path as messages call it: the element, or the attribute of the element."""
    element, _, attribute = path.partition("@")
    tag = in_line(element.rpartition("/")[2])
    return f"{shown(attribute)} of <{tag}>" if attribute else f"<{tag}>"


def _is_neutral(value: str, neutral: tuple[str, ...]) -> bool:
    """Whether a value has no effect: it is neutral, or all its numbers are zero for ``0``."""
    words = value.lower().split()
    if neutral == ("",):
        return not words
    return bool(neutral) and all(word in neutral or _zero(word, neutral) for word in words)


def _zero(word: str, neutral: tuple[str, ...]) -> bool:
    try:
        return "0" in neutral and float(word) == 0.0
    except ValueError:
        return False


# Sources: `xsd/urdf.xsd` of urdfdom and what its parser accepts in addition (capsules, `tau`,
# `quat_xyzw` of URDF 1.1, rates of `<limit>` of 1.2), the transmissions of ROS
# (`transmission_interface`, `pr2_mechanism`), the extensions of Gazebo (`parser_urdf.cc` of
# sdformat) and those of Drake.


URDF = Format(
    "URDF",
    read="""
robot @name
robot/link @name
robot/link/inertial
robot/link/inertial/ origin @xyz @rpy @quat_xyzw mass @value inertia @ixx @ixy @ixz @iyy @iyz @izz
robot/joint @name @type
robot/joint/ origin @xyz @rpy @quat_xyzw parent @link child @link axis @xyz
robot/joint/ dynamics @damping @friction limit @lower @upper @effort @velocity
robot/joint/mimic @joint @multiplier @offset
robot/transmission @name @type @mechanicalReduction @motorInertia
robot/transmission/ type joint @name @mechanicalReduction
robot/transmission/joint/ mechanicalReduction @value drake:gear_ratio @value
robot/transmission/ mechanicalReduction @value motorInertia @value drake:rotor_inertia @value
robot/transmission/ drake:gear_ratio @value actuator @name @mechanicalReduction @motorInertia
robot/transmission/actuator/ mechanicalReduction @value motorInertia @value
robot/transmission/actuator/ drake:rotor_inertia @value drake:gear_ratio @value
""",
    no_effect="""
robot @version @xmlns
robot/ material... link @type
robot/link/ visual... collision... contact... self_collision_checking... collision_checking...
robot/link/ sensor... material...
robot/joint/calibration @reference_position @rising @falling
robot/joint/safety_controller @soft_lower_limit @soft_upper_limit @k_position @k_velocity
robot/joint/limit @acceleration @deceleration @jerk @drake:acceleration
robot/joint/ limit @soft_lower @soft_upper @k_position @k_velocity property_bag... parent @xyz @rpy
robot/transmission/joint/ hardwareInterface role offset
robot/transmission/ plugin... hardwareInterface motorTorqueConstant robotNamespace
robot/transmission/actuator/ hardwareInterface role motorTorqueConstant
robot/transmission/ leftActuator @name @mechanicalReduction rightActuator @name @mechanicalReduction
robot/transmission/ flexJoint @name @mechanicalReduction rollJoint @name @mechanicalReduction
robot/transmission/ passive_joint @name use_simulated_gripper_joint simulated_actuated_joint...
robot/ ros2_control... sensor... self_filter...
robot/link/self_filter...
robot/ group... group_state... end_effector... disable_collisions...
robot/gazebo @reference @version @xmlns
robot/gazebo/ material... visual... collision... sensor... light... camera... self_collide
robot/gazebo/ selfCollide enable_wind mu mu1 mu2 fdir1 kp kd slip1 slip2 maxVel max_vel minDepth
robot/gazebo/ min_depth maxContacts max_contacts laserRetro laser_retro bounce... surface... stopCfm
robot/gazebo/ stopErp stopKp stopKd fudgeFactor cfmDamping provideFeedback implicitSpringDamper
robot/gazebo/ initial_joint_position preserveFixedJoint disableFixedJointLumping
robot/gazebo/ disable_ros_interface physics... pose...
robot/ drake:collision_filter_group... drake:proximity_properties... drake:declare_convex...
robot/link/drake:ellipsoid...
robot/frame...
""",
    left_out="""
robot/gazebo/plugin... : plugins are not run, and their forces do not act
robot/gazebo/gravity = true 1 : the link would have no weight
robot/gazebo/turnGravityOff = false 0 : the link would have no weight
robot/gazebo/static = false 0 : the robot would not move
robot/gazebo/kinematic = false 0 : forces would not move the link
robot/gazebo/dampingFactor = 0 : the velocity of the link would decay
robot/gazebo/velocity_decay... : the velocity of the link would decay
robot/gazebo/springStiffness = 0 : a spring would act; write stiffness: at the joint
robot/gazebo/springReference = 0 : it is the rest of a spring; write rest: at the joint
robot/gazebo/ joint... axis... : it may have its own damping, friction and springs
robot/gazebo/link... : it adds a link of Gazebo alone
robot/gazebo/model... : it adds a model of Gazebo alone
robot/gazebo/inertial... : it replaces the mass of the link in Gazebo
robot/joint/implicit_damping... : a damping would act
robot/transmission/gap_joint... : a gripper driven by a screw couples joints
robot/transmission/compensator... : springs that compensate gravity would act
robot/drake:linear_bushing_rpy... : springs and dampers between two frames would act
robot/drake:linear_spring_damper... : a spring and damper between two points would act
robot/loop_joint... : a loop would be closed
robot/drake:joint... : the robot would have a joint of Drake's alone, a ball or a screw, say
robot/transmission/actuator/drake:controller_gains... : a controller would act
robot/force_element... : forces between links would act
""",
)


# Sources: the descriptions of SDFormat 1.3 to 1.12 (`sdf/*/*.sdf` of sdformat), and the extensions
# of Drake.


_POSE = "@relative_to @frame @rotation_format @degrees"
_AXIS_READ = """
joint/AXIS
joint/AXIS/ xyz @expressed_in use_parent_model_frame dynamics
joint/AXIS/dynamics/ damping friction spring_reference spring_stiffness
joint/AXIS/limit
joint/AXIS/limit/ lower upper effort velocity
joint/AXIS/mimic @joint @axis
joint/AXIS/mimic/ multiplier offset reference
"""
_AXIS_NO_EFFECT = """
joint/AXIS/initial_position
joint/AXIS/limit/ stiffness dissipation drake:acceleration
"""
_ADDED_MASSES = "xx xy xz xp xq xr yy yz yp yq yr zz zp zq zr pp pq pr qq qr rr"


def _of_axes(lines: str) -> str:
    return lines.replace("AXIS", "axis") + lines.replace("AXIS", "axis2")


SDF = Format(
    "SDF",
    read=f"""
sdf @version world @name
world/gravity
world/physics/gravity
world/joint
model @name @canonical_link @placement_frame
model/pose {_POSE}
include @merge
include/ uri name placement_frame
include/pose {_POSE}
frame @name @attached_to
frame/pose {_POSE}
link @name
link/pose {_POSE}
link/inertial @auto
link/inertial/mass
link/inertial/pose {_POSE}
link/inertial/inertia
link/inertial/inertia/ ixx ixy ixz iyy iyz izz
joint @name @type
joint/ parent child
joint/pose {_POSE}
joint/ screw_thread_pitch thread_pitch drake:rotor_inertia drake:gear_ratio
{_of_axes(_AXIS_READ)}
""",
    no_effect=f"""
sdf/ actor... light... gui...
world @namespace
world/ audio... wind... atmosphere... magnetic_field gui... physics... scene... light... actor...
world/ road... spherical_coordinates... state... population...
model @namespace
model/ self_collide allow_auto_disable model_state...
include/model_state...
link/ must_be_base_link self_collide collision... visual... sensor... light... projector...
link/ audio_source... audio_sink... battery... particle_emitter...
link/inertial/ density auto_inertia_params...
joint/ gearbox_ratio gearbox_reference_body sensor... physics...
model/drake:collision_filter_group...
{_of_axes(_AXIS_NO_EFFECT)}
""",
    left_out=f"""
world/plugin... model/plugin... link/plugin... : plugins are not run, and their forces do not act
joint/plugin... include/plugin... : plugins are not run, and their forces do not act
model/static include/static = false 0 : the model would not move
model/enable_wind = false 0 : the wind would push the links
link/enable_wind = false 0 : the wind would push the link
link/gravity = true 1 : the link would have no weight
link/kinematic = false 0 : forces would not move the link
link/velocity_decay
link/velocity_decay/ linear angular = 0 : the velocity of the link would decay
joint/physics/ode/max_force = 0 : a motor of this force would drive the joint
joint/drake:controller_gains... : a controller would drive the joint
joint/drake:mimic... : the joint would follow another one; write <mimic> in its <axis>
model/gripper... : the gripper would hold what it grasps
model/drake:linear_bushing_rpy... : springs and dampers between two frames would act
model/drake:linear_spring_damper... : a spring and damper between two points would act
model/drake:ball_constraint... : a loop would be closed
link/inertial/fluid_added_mass
link/inertial/fluid_added_mass/ {_ADDED_MASSES} = 0 : the fluid around it would add to its mass
""",
    refused="""
model/drake:joint...
""",
    parts=("world", "model", "link", "joint", "frame", "include"),
)
