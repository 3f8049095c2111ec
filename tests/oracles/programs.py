"""Programs to evaluate: what is done for the sake of the emitted code alone is left out."""

from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate


def evaluated(description, formulation, function, runtime=()):
    """Return the folded program, without names: two thirds of the work of one to emit."""
    return derived_program(description, formulation, function, runtime, built=False)


def validation_of(description, functions=None, formulations=FORMULATIONS, **options):
    """Validate the programs of formulations: of `functions`, or of all that they derive."""
    programs = {
        formulation.name: {
            function: derived_program(description, formulation, function)
            for function in provided_functions(formulation)
            if functions is None or function in functions
        }
        for formulation in formulations
    }
    return validate(description, evaluated_subjects(programs), **options)
