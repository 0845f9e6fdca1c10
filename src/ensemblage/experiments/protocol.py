"""What is run: the constants of the paper's section 4, and the plan that a user may narrow.

An ensemble is M columns of a pool of base clusterings, drawn without replacement by a seed that
depends on M and the number of the draw only, so every method sees the same ensembles. NMI is that
of the paper's tables, MI / max(H, H). "True k" is the number of classes. "Best k" is the largest
score over `CLUSTER_NUMBERS` and the true k, for NMI and ARI each, as in the authors' program; for
methods that need a whole run for each k (`cuts="few"`) over `FEW_CLUSTER_NUMBERS` and the true k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ensemblage import datasets
from ensemblage.methods import (
    CSPA,
    EAC,
    ECMC,
    ECPCS,
    GPMGLA,
    HBGF,
    HGPA,
    LWEA,
    LWGP,
    LWPT,
    MCLA,
    NMF,
    PTA,
    PTGP,
    SRS,
    SRW,
    USENC,
    WCT,
    WEAC,
    Vote,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ensemblage.experiments.records import Task
    from ensemblage.methods import ConsensusClusterer

DATASETS: tuple[str, ...] = tuple(datasets.NAMES)
N_MEMBERS = 10
CLUSTER_NUMBERS = (*range(2, 21), 25, 30, 35, 40, 45, 50)
FEW_CLUSTER_NUMBERS = (5, 10, 15, 20, 30)
NEIGHBORS: tuple[int | str, ...] = (1, 2, 4, 8, 16, 32, 64, "all")
STEPS = (1, 2, 4, 8, 16, 32, 64, 128)
MIDDLE = 10  #: K where T varies, T where K varies
ENSEMBLE_SIZES = (10, 20, 30, 40, 50)
DATA_SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 494_020)
OWN_POOL = 200
QUICK_POOL = 20
QUICK_DATASETS = ("MF", "IS")
QUICK_RUNS = 2
#: Up to this many objects, methods that the paper ran on objects are run on objects here too.
MOST_OBJECTS = 12_000

#: Ties decide much of their complete and single link; this rule comes closest to the paper's.
_TIED = (PTA, EAC, WCT, WEAC)
_LINKAGES = {"AL": "average", "CL": "complete", "SL": "single"}


@dataclass(frozen=True)
class Variant:
    """A method under the name that tables give it.

    `cuts` says which k are tried for the best one: all where a cut costs next to nothing, few
    where each is a run of its own, none where only the true k is of interest. Draws past
    `most_draws` are left out, because the method is slow.
    """

    method: type[ConsensusClusterer]
    parameters: dict[str, Any]
    cuts: Literal["all", "few", "none"] = "all"
    most_draws: int = 100
    on_objects: bool = False

    def parameters_for(self, n_objects: int) -> dict[str, Any]:
        """Return the parameters on so many objects."""
        if self.on_objects and n_objects <= MOST_OBJECTS:
            return {**self.parameters, "level": "objects"}
        return dict(self.parameters)


def _variants() -> dict[str, Variant]:
    found: dict[str, Variant] = {}
    for kind in (PTA, EAC, SRS, WCT, ECMC, WEAC):
        for short, linkage in _LINKAGES.items():
            parameters = {"linkage": linkage}
            if kind in _TIED and linkage != "average":
                parameters["ties"] = "later"
            found[f"{kind.__name__}-{short}"] = (
                Variant(kind, parameters, most_draws=2, on_objects=True)
                if kind is ECMC
                else Variant(kind, parameters)
            )
    return found | {
        "PTGP": Variant(PTGP, {}),
        "CSPA": Variant(CSPA, {"partitioner": "metis"}, "few", 5, on_objects=True),
        "HGPA": Variant(HGPA, {}, "few", 5, on_objects=True),
        "HGPA-micro": Variant(HGPA, {}, "few", 20),
        "MCLA": Variant(MCLA, {}, "few", 20),
        "SRW": Variant(SRW, {}),
        "GP-MGLA": Variant(GPMGLA, {}),
        "HBGF": Variant(HBGF, {}),
        "NMF": Variant(NMF, {}, "none", 10),
        "LWEA": Variant(LWEA, {}),
        "LWGP": Variant(LWGP, {}),
        "ECPCS-HC": Variant(ECPCS, {"variant": "hc"}),
        "ECPCS-MC": Variant(ECPCS, {"variant": "mc"}),
        "U-SENC": Variant(USENC, {}),
        "LWPT": Variant(LWPT, {}),
        "Vote": Variant(Vote, {}),
    }


VARIANTS = _variants()

#: The 24 rows of the paper's table of methods, in its order.
PAPER_METHODS = (
    *("PTA-AL", "PTA-CL", "PTA-SL", "PTGP", "CSPA", "HGPA", "MCLA", "SRW", "GP-MGLA"),
    *(f"{name}-{link}" for name in ("EAC", "SRS", "WCT", "ECMC", "WEAC") for link in _LINKAGES),
)
#: The twelve lines of its figures: average link stands for all pairwise methods.
LINES = tuple(name for name in PAPER_METHODS if name[-3:] not in ("-CL", "-SL"))


@dataclass(frozen=True)
class Plan:
    """What a user asked for.

    `datasets` None are the paper's ten (two in a quick plan); `runs` None is the number of each
    experiment; `pools` None is the authors' pool of each dataset where it is at hand, else an own
    one. `at_hand` are the datasets that have a pool of the authors.
    """

    datasets: tuple[str, ...] | None = None
    runs: int | None = None
    pools: str | None = None
    quick: bool = False
    at_hand: frozenset[str] = frozenset()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Return the datasets that most experiments run on."""
        return self._with_pool(self.datasets or (QUICK_DATASETS if self.quick else DATASETS))

    def one(self, favourite: str) -> tuple[str, ...]:
        """Return the dataset of an experiment on one: its own unless the user chose others."""
        if self.datasets is None or favourite in self.datasets:
            return self._with_pool((favourite,))
        return self._with_pool(self.datasets[-1:])

    def pool_of(self, dataset: str) -> str:
        """Return the name of the pool that ensembles of a dataset are drawn from."""
        if self.pools != "own" and dataset in self.at_hand:
            return "authors"
        return f"own-{QUICK_POOL if self.quick else OWN_POOL}"

    def draws(self, runs: int) -> range:
        """Return the numbers of the draws, `runs` being what the experiment declares."""
        wanted = QUICK_RUNS if self.quick and self.runs is None else self.runs
        return range(wanted or runs)

    def ensembles(
        self, runs: int, sizes: Sequence[int] = (N_MEMBERS,), datasets: Sequence[str] | None = None
    ) -> Iterator[Task]:
        """Yield what ensembles a task may be about: draw by draw, so that all grow together."""
        chosen = self.chosen if datasets is None else datasets
        for size in sizes:
            for draw in self.draws(runs):
                for dataset in chosen:
                    yield {
                        "pool": self.pool_of(dataset),
                        "dataset": dataset,
                        "members": size,
                        "draw": draw,
                    }

    def _with_pool(self, datasets: tuple[str, ...]) -> tuple[str, ...]:
        if self.pools != "authors":
            return datasets
        return tuple(name for name in datasets if name in self.at_hand)


def score_tasks(
    plan: Plan,
    methods: Sequence[str],
    runs: int,
    sizes: Sequence[int] = (N_MEMBERS,),
    seeds: Sequence[int] = (0,),
) -> Iterator[Task]:
    """Yield the tasks that score methods on ensembles; slow methods get fewer draws."""
    for ensemble in plan.ensembles(runs, sizes):
        for name in methods:
            if ensemble["draw"] < VARIANTS[name].most_draws:
                for seed in seeds:
                    yield {"kind": "scores", **ensemble, "method": name, "seed": seed}
