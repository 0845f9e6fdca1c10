"""The runs: constants of the paper's section 4, and the plan that a user may narrow.

An ensemble is M columns of a pool of base clusterings, drawn without replacement by a seed that
depends on M and the number of the draw only, so every method sees the same ensembles. NMI is that
of the paper's tables, MI / max(H, H). "True k" is the number of classes. "Best k" is the largest
score over `cluster_numbers(N)` and the true k, for NMI and ARI each; for methods that need a whole
run on objects for each k (`cuts="few"`) over `FEW_CLUSTER_NUMBERS` and the true k. One record holds
both scores of a draw, so they are always means over the same draws.

The paper does not state the largest k. That it was about the square root of N is inferred: its
numbers of single link are not reached with a smaller range.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
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
    LCA,
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
    Consensus,
    Median,
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
#: Up to this many objects, methods that the paper ran on objects are also run on objects here.
MOST_OBJECTS = 12_000
#: Suffixes of variants: K and T by the text, ECMC with the penalty of robust PCA.
UNCAPPED, ROBUST_PCA = " uncapped", " C=1/sqrt(N)"

#: Complete link depends strongly on ties; this rule comes closest to the paper's.
_TIES = "later"
_LINKAGES = {"AL": "average", "CL": "complete", "SL": "single"}


def cluster_numbers(n_objects: int) -> tuple[int, ...]:
    """Return the numbers of clusters among which the best is searched: up to max(50, sqrt(N))."""
    root = isqrt(n_objects)
    beyond = (*range(60, root + 1, 10), root) if root > CLUSTER_NUMBERS[-1] else ()
    return tuple(dict.fromkeys((*CLUSTER_NUMBERS, *beyond)))


@dataclass(frozen=True)
class Variant:
    """A method under its name in tables.

    `cuts` selects the k that are tried for the best one: all if a cut is cheap, few if each is a
    run on objects, only the true k for "true". `draws` is the default number for a slow method.
    `uncapped` K and T follow the paper's text, half the root of the number of microclusters,
    without the program's limit of 20. `spanning` single link merges along a minimum spanning tree
    that grows from the first row, and of equal links the one found first, as common programs do. No
    other rule for ties comes near the paper's numbers of single link.
    """

    method: type[ConsensusClusterer]
    parameters: dict[str, Any]
    cuts: Literal["all", "few", "true"] = "all"
    draws: int = 100
    on_objects: bool = False
    uncapped: bool = False
    spanning: bool = False

    def parameters_for(self, n_objects: int, n_microclusters: int = 0) -> dict[str, Any]:
        """Return the parameters for these numbers of objects and microclusters."""
        if self.on_objects and n_objects <= MOST_OBJECTS:
            return {**self.parameters, "level": "objects"}
        if self.uncapped:
            reach = max(1, isqrt(n_microclusters) // 2)
            return {**self.parameters, "n_neighbors": reach, "n_steps": reach}
        return dict(self.parameters)


def _linked(kind: type[ConsensusClusterer], **options: Any) -> dict[str, Variant]:
    """Return the three linkages of a method, for a name that they are appended to."""
    parameters = options.pop("parameters", {})
    linkages = {}
    for short, linkage in _LINKAGES.items():
        single = linkage == "single"
        tied = linkage == "complete" or (kind is ECMC and not single)
        words = {**parameters, "linkage": linkage, **({"ties": _TIES} if tied else {})}
        linkages[short] = Variant(kind, words, spanning=single, **options)
    return linkages


def _variants() -> dict[str, Variant]:
    variants: dict[str, Variant] = {}
    for kind in (PTA, EAC, SRS, WCT, ECMC, WEAC):
        options = {"draws": 10} if kind is ECMC else {}
        for short, variant in _linked(kind, **options).items():
            variants[f"{kind.__name__}-{short}"] = variant
    for short, variant in _linked(PTA, uncapped=True).items():
        variants[f"PTA-{short}{UNCAPPED}"] = variant
    for short, variant in _linked(ECMC, parameters={"penalty": None}, draws=5).items():
        variants[f"ECMC-{short}{ROBUST_PCA}"] = variant
    return variants | {
        "PTGP": Variant(PTGP, {}),
        f"PTGP{UNCAPPED}": Variant(PTGP, {}, uncapped=True),
        "CSPA": Variant(CSPA, {"partitioner": "metis"}, "few", 5, on_objects=True),
        "HGPA": Variant(HGPA, {}, "few", 5, on_objects=True),
        "HGPA-micro": Variant(HGPA, {}, "true", 20),
        "MCLA": Variant(MCLA, {"partitioner": "metis"}),
        "SRW": Variant(SRW, {}, draws=20),
        "GP-MGLA": Variant(GPMGLA, {}),
        "HBGF": Variant(HBGF, {}, "true"),
        "NMF": Variant(NMF, {}, "true", 10),
        "LWEA": Variant(LWEA, {}, "true"),
        "LWGP": Variant(LWGP, {}, "true"),
        "ECPCS-HC": Variant(ECPCS, {"variant": "hc"}, "true"),
        "ECPCS-MC": Variant(ECPCS, {"variant": "mc"}, "true"),
        "U-SENC": Variant(USENC, {}, "true"),
        "LWPT": Variant(LWPT, {}, "true"),
        "Vote": Variant(Vote, {}, "true"),
        "Consensus": Variant(Consensus, {}, "true"),
        "LCA": Variant(LCA, {}, "true"),
        "Median": Variant(Median, {}, "true", 10),
    }


VARIANTS = _variants()

#: The 24 rows of the paper's table of methods, in its order.
PAPER_METHODS = (
    *("PTA-AL", "PTA-CL", "PTA-SL", "PTGP", "CSPA", "HGPA", "MCLA", "SRW", "GP-MGLA"),
    *(f"{name}-{link}" for name in ("EAC", "SRS", "WCT", "ECMC", "WEAC") for link in _LINKAGES),
)
#: The twelve lines of its figures: average link represents all pairwise methods.
LINES = tuple(name for name in PAPER_METHODS if name[-3:] not in ("-CL", "-SL"))


@dataclass(frozen=True)
class Plan:
    """The requested runs.

    `datasets` None are the paper's ten (two in a quick plan); `runs` None is the number of each
    experiment; `pools` None is the authors' pool of each dataset if it is available, else an own
    one. `at_hand` are the datasets with a pool of the authors. `uncapped` also runs PTA and PTGP
    with K and T by the text, half the root of the number of microclusters, where the authors'
    program stops at 20.

    Examples
    --------
    >>> from ensemblage.experiments import Plan
    >>> Plan(datasets=("PD",), runs=2).runs
    2
    """

    datasets: tuple[str, ...] | None = None
    runs: int | None = None
    pools: str | None = None
    quick: bool = False
    at_hand: frozenset[str] = frozenset()
    uncapped: bool = False

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
        """Return the numbers of the draws, given the default `runs` of the experiment."""
        wanted = QUICK_RUNS if self.quick and self.runs is None else self.runs
        return range(wanted or runs)

    def ensembles(
        self, runs: int, sizes: Sequence[int] = (N_MEMBERS,), datasets: Sequence[str] | None = None
    ) -> Iterator[Task]:
        """Yield the ensembles of a task: draw by draw, so that all grow together."""
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
    cuts: str | None = None,
) -> Iterator[Task]:
    """Yield the tasks that score methods on ensembles.

    Slow methods get fewer draws, unless the user sets the number. `cuts` replaces that of variants.
    """
    for ensemble in plan.ensembles(runs, sizes):
        for name in methods:
            variant = VARIANTS[name]
            if plan.runs is not None or ensemble["draw"] < variant.draws:
                for seed in seeds:
                    yield {
                        "kind": "scores",
                        **ensemble,
                        "method": name,
                        "cuts": cuts or variant.cuts,
                        "seed": seed,
                    }
