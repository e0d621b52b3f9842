"""Guards, commit points, orders of two effects, comparisons of versions and bounds, each taken
away."""

from tests.mutants.mutant import Mutant

BY_HAND = (
)
