"""The table of URDF: every element and attribute of its published descriptions, with its use.

Sources: `xsd/urdf.xsd` of urdfdom and what its parser takes beside it (capsules, `tau`, `quat_xyzw`
of URDF 1.1, rates of `<limit>` of 1.2), the transmissions of ROS (`transmission_interface`,
`pr2_mechanism`), the extensions of Gazebo (`parser_urdf.cc` of sdformat) and those of Drake.
"""

from __future__ import annotations

from symgen.description.foreign.entries import Format

URDF = Format(
    "URDF",
    read="""
robot @name
robot/link @name
robot/link/inertial
robot/link/inertial/origin @xyz @rpy @quat_xyzw
robot/link/inertial/mass @value
robot/link/inertial/inertia @ixx @ixy @ixz @iyy @iyz @izz
robot/joint @name @type
robot/joint/origin @xyz @rpy @quat_xyzw
robot/joint/parent @link
robot/joint/child @link
robot/joint/axis @xyz
robot/joint/dynamics @damping @friction
robot/joint/limit @lower @upper @effort @velocity
robot/joint/mimic @joint @multiplier @offset
robot/transmission @name @type @mechanicalReduction @motorInertia
robot/transmission/type
robot/transmission/joint @name @mechanicalReduction
robot/transmission/joint/mechanicalReduction @value
robot/transmission/joint/drake:gear_ratio @value
robot/transmission/mechanicalReduction @value
robot/transmission/motorInertia @value
robot/transmission/drake:rotor_inertia @value
robot/transmission/drake:gear_ratio @value
robot/transmission/actuator @name @mechanicalReduction @motorInertia
robot/transmission/actuator/mechanicalReduction @value
robot/transmission/actuator/motorInertia @value
robot/transmission/actuator/drake:rotor_inertia @value
robot/transmission/actuator/drake:gear_ratio @value
""",
    no_effect="""
robot @version @xmlns
robot/material ...
robot/link @type
robot/link/visual ...
robot/link/collision ...
robot/link/contact ...
robot/link/self_collision_checking ...
robot/link/collision_checking ...
robot/link/sensor ...
robot/link/material ...
robot/joint/calibration @reference_position @rising @falling
robot/joint/safety_controller @soft_lower_limit @soft_upper_limit @k_position @k_velocity
robot/joint/limit @acceleration @deceleration @jerk @drake:acceleration
robot/joint/limit @soft_lower @soft_upper @k_position @k_velocity
robot/joint/property_bag ...
robot/joint/parent @xyz @rpy
robot/transmission/joint/hardwareInterface
robot/transmission/joint/role
robot/transmission/joint/offset
robot/transmission/plugin ...
robot/transmission/hardwareInterface
robot/transmission/motorTorqueConstant
robot/transmission/robotNamespace
robot/transmission/actuator/hardwareInterface
robot/transmission/actuator/role
robot/transmission/actuator/motorTorqueConstant
robot/transmission/leftActuator @name @mechanicalReduction
robot/transmission/rightActuator @name @mechanicalReduction
robot/transmission/flexJoint @name @mechanicalReduction
robot/transmission/rollJoint @name @mechanicalReduction
robot/transmission/passive_joint @name
robot/transmission/use_simulated_gripper_joint
robot/transmission/simulated_actuated_joint ...
robot/ros2_control ...
robot/sensor ...
robot/self_filter ...
robot/link/self_filter ...
robot/group ...
robot/group_state ...
robot/end_effector ...
robot/disable_collisions ...
robot/gazebo @reference @version @xmlns
robot/gazebo/material ...
robot/gazebo/visual ...
robot/gazebo/collision ...
robot/gazebo/sensor ...
robot/gazebo/light ...
robot/gazebo/camera ...
robot/gazebo/self_collide
robot/gazebo/selfCollide
robot/gazebo/enable_wind
robot/gazebo/mu
robot/gazebo/mu1
robot/gazebo/mu2
robot/gazebo/fdir1
robot/gazebo/kp
robot/gazebo/kd
robot/gazebo/slip1
robot/gazebo/slip2
robot/gazebo/maxVel
robot/gazebo/max_vel
robot/gazebo/minDepth
robot/gazebo/min_depth
robot/gazebo/maxContacts
robot/gazebo/max_contacts
robot/gazebo/laserRetro
robot/gazebo/laser_retro
robot/gazebo/bounce ...
robot/gazebo/surface ...
robot/gazebo/stopCfm
robot/gazebo/stopErp
robot/gazebo/stopKp
robot/gazebo/stopKd
robot/gazebo/fudgeFactor
robot/gazebo/cfmDamping
robot/gazebo/provideFeedback
robot/gazebo/implicitSpringDamper
robot/gazebo/initial_joint_position
robot/gazebo/preserveFixedJoint
robot/gazebo/disableFixedJointLumping
robot/gazebo/disable_ros_interface
robot/gazebo/physics ...
robot/gazebo/pose ...
robot/drake:collision_filter_group ...
robot/drake:proximity_properties ...
robot/drake:declare_convex ...
robot/link/drake:ellipsoid ...
robot/frame ...
""",
    left_out="""
robot/gazebo/plugin ... : plugins are not run, and their forces do not act
robot/gazebo/gravity = true 1 : the link would have no weight
robot/gazebo/turnGravityOff = false 0 : the link would have no weight
robot/gazebo/static = false 0 : the robot would not move
robot/gazebo/kinematic = false 0 : forces would not move the link
robot/gazebo/dampingFactor = 0 : the velocity of the link would decay
robot/gazebo/velocity_decay ... : the velocity of the link would decay
robot/gazebo/springStiffness = 0 : a spring would act; write stiffness: at the joint
robot/gazebo/springReference = 0 : it is the rest of a spring; write rest: at the joint
robot/gazebo/joint ... : it may have its own damping, friction and springs
robot/gazebo/axis ... : it may have its own damping, friction and springs
robot/gazebo/link ... : it adds a link of Gazebo alone
robot/gazebo/model ... : it adds a model of Gazebo alone
robot/gazebo/inertial ... : it replaces the mass of the link in Gazebo
robot/joint/implicit_damping ... : a damping would act
robot/transmission/gap_joint ... : a gripper driven by a screw couples joints
robot/transmission/compensator ... : springs that compensate gravity would act
robot/drake:linear_bushing_rpy ... : springs and dampers between two frames would act
robot/drake:linear_spring_damper ... : a spring and damper between two points would act
robot/loop_joint ... : a loop would be closed
robot/drake:joint ... : the robot would have a joint of Drake's alone, a ball or a screw, say
robot/transmission/actuator/drake:controller_gains ... : a controller would act
robot/force_element ... : forces between links would act
""",
)
