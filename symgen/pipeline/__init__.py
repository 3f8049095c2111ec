"""From a model file to a validated package, stage by stage.

    read      path                -> RobotDescription   symgen.description
    select    RobotDescription    -> Selection          symgen.deriving
    derive    Selection           -> Programs           symgen.kinematics, symgen.formulations
    optimize  Program             -> Program            symgen.optimize (folding, dead code)
    emit      Programs            -> SourceBundle       symgen.emit
    compile   SourceBundle        -> CompileResult      symgen.toolchain
    stage     both                -> Stage              symgen.toolchain
    validate  the staged package  -> ValidationResult   symgen.validation
    install   Stage               -> package folder     symgen.toolchain

`building` runs the stages in one function, after `build_plan` has planned the build; `scheduler`
compiles in parallel, `qualification` validates a tool chain before its first use, `validating` the
staged package.  `build_report` is the report of a build, `checking` implements `symgen check`,
`distribution` makes wheels.
"""
