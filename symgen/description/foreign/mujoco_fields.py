"""The table of a compiled MuJoCo model: every field of `mjModel` and `mjOption` with its use.

The lines are those of `entries`; ``*`` behind a prefix stands for a group none of which can act
on the dynamics, and ``opt.``, ``disable.`` and ``enable.`` stand before options and flags.  Of what
is left out or refused a line says what acts: where a field is not zero, `mujoco_process` reports it
with the names of what has it.

Forces of actuators are not those of the model: the torques that a module takes are what all drives
give together.  Contacts, and limits of joints as constraints, are not modelled in any format.

This module imports nothing: the process that compiles files reads it as well.
"""

READ = """
nbody njnt nsite neq ntendon nflex nactuator nu nplugin
names name_bodyadr name_jntadr name_siteadr name_eqadr name_tendonadr name_flexadr name_actuatoradr
body_parentid body_pos body_quat body_ipos body_iquat body_mass body_inertia
jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_pos jnt_axis jnt_stiffness jnt_range jnt_limited
jnt_actfrcrange jnt_actfrclimited
dof_armature dof_damping dof_frictionloss
qpos0 qpos_spring
site_bodyid site_pos site_quat
eq_type eq_obj1id eq_obj2id eq_objtype eq_active0 eq_data
tendon_adr tendon_num tendon_type wrap_type wrap_objid wrap_prm
actuator_trntype actuator_trnid actuator_gear actuator_armature actuator_damping
opt.gravity opt.disableflags
disable.GRAVITY disable.SPRING disable.DAMPER disable.PASSIVE disable.EQUALITY
disable.CONSTRAINT disable.FRICTIONLOSS disable.LIMIT
"""

NO_EFFECT = """
B_* D_* M_* efm0_* efmC_* mapD2M mapM2D mapM2M nB nC nD nM nJ* nefm* bvh_* oct_* paths signature
cam_* light_* mat_* tex_* mesh_* skin_* hfield_* vis stat key_* text_* tuple_* numeric_* sensor_*
exclude_* pair_* name_* names_map geom_* flg_* flex_* flexedge_* ten_J_* tree_* plugin plugin_*
na narena nbuffer nbvh nbvhdynamic nbvhstatic ncam nconmax nemax nexclude nflex* ngeom ngravcomp
nhfield nhfielddata nhistory njmax nkey nlight nmat nmesh* nmocap nnames nnames_map nnumeric
nnumericdata noct nout npair npaths nplastic npluginattr npluginstate npolygonmax nq nsensor
nsensordata nskin* ntex ntexdata ntext ntextdata ntree ntuple ntupledata nuser_* nuserdata nv nwrap
body_bvhadr body_bvhnum body_conaffinity body_contype body_dofadr body_dofnum body_geomadr
body_geomnum body_invweight0 body_jntadr body_jntnum body_margin body_rootid body_sameframe
body_simple body_subtreemass body_treeid body_user body_weldid body_plugin
jnt_group jnt_margin jnt_solimp jnt_solref jnt_user jnt_actuatorid jnt_plasticadr jnt_actgravcomp
dof_M0 dof_Madr dof_bodyid dof_invweight0 dof_jntid dof_length dof_parentid dof_simplenum
dof_solimp dof_solref dof_treeid
site_group site_matid site_rgba site_sameframe site_size site_type site_user site_dataid
eq_solimp eq_solref
tendon_actfrclimited tendon_actfrcrange tendon_actuatorid tendon_group tendon_invweight0
tendon_length0 tendon_lengthspring tendon_margin tendon_matid tendon_plasticadr tendon_range
tendon_rgba tendon_solimp_fri tendon_solimp_lim tendon_solref_fri tendon_solref_lim
tendon_treeid tendon_treenum tendon_user tendon_width
actuator_acc0 actuator_actadr actuator_actearly actuator_actlimited actuator_actnum
actuator_actrange actuator_biasprm actuator_biastype actuator_cranklength actuator_ctrladr
actuator_ctrllimited actuator_ctrlnum actuator_ctrlrange actuator_ctrlspec actuator_delay
actuator_dynprm actuator_dyntype actuator_forcelimited actuator_forcerange actuator_gainprm
actuator_gaintype actuator_group actuator_history actuator_historyadr actuator_length0
actuator_lengthrange actuator_outadr actuator_outnum actuator_plugin actuator_user
opt.timestep opt.integrator opt.cone opt.jacobian opt.solver opt.iterations opt.ls_iterations
opt.noslip_iterations opt.ccd_iterations opt.sdf_iterations opt.sdf_initpoints opt.tolerance
opt.ls_tolerance opt.noslip_tolerance opt.ccd_tolerance opt.sleep_tolerance opt.impratio
opt.magnetic opt.o_friction opt.o_margin opt.o_solimp opt.o_solref opt.disableactuator
opt.enableflags opt.apirate opt.mpr_iterations opt.mpr_tolerance opt.wind
disable.CONTACT disable.CLAMPCTRL disable.WARMSTART disable.FILTERPARENT disable.ACTUATION
disable.REFSAFE disable.SENSOR disable.MIDPHASE disable.EULERDAMP disable.AUTORESET
disable.NATIVECCD disable.ISLAND disable.MULTICCD
enable.OVERRIDE enable.ENERGY enable.FWDINV enable.INVDISCRETE enable.SLEEP enable.DIAGEXACT
enable.IPC enable.SPECULATIVE enable.MULTICCD enable.ISLAND
"""

LEFT_OUT = """
opt.density : bodies would be slowed down, and carried by the wind, in a medium of this density
opt.viscosity : bodies would be slowed down in a medium of this viscosity
body_gravcomp : gravity would be compensated in part
body_mocapid : motion capture would move the body, which is fixed here
jnt_springyield : the spring would yield, and stay bent
actuator_dampingpoly : damping of drives of higher order would act
"""

REFUSED = """
jnt_stiffnesspoly : stiffness and damping that are polynomials are not available yet
dof_dampingpoly : stiffness and damping that are polynomials are not available yet
tendon_stiffness : the tendon would pull
tendon_stiffnesspoly : the tendon would pull
tendon_damping : the tendon would be damped
tendon_dampingpoly : the tendon would be damped
tendon_frictionloss : the tendon would rub
tendon_armature : the tendon has an inertia
tendon_limited : the length of the tendon has limits
tendon_springyield : the tendon would yield
"""


def uses() -> dict[str, tuple[str, str]]:
    """Use and effect of every field, or of the group with its prefix and ``*``."""
    result: dict[str, tuple[str, str]] = {}
    blocks = {"read": READ, "no effect": NO_EFFECT, "left out": LEFT_OUT, "refused": REFUSED}
    for use, block in blocks.items():
        for line in filter(None, block.splitlines()):
            fields, _, effect = line.partition(" : ")
            result.update((field, (use, effect)) for field in fields.split())
    return result


def use_of(field: str) -> str:
    """The use of a field; "" where the table has none."""
    table = uses()
    if field in table:
        return table[field][0]
    groups = [name for name in table if name.endswith("*") and field.startswith(name[:-1])]
    return table[groups[0]][0] if groups else ""


def effects(use: str) -> dict[str, str]:
    """Effect of each field with a use."""
    return {field: effect for field, (kind, effect) in uses().items() if kind == use}
