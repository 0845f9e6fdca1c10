"""What whole fits take against N, M, n, C and k: measured, drawn, and fitted for `en.estimate`.

python -m benchmarks.costs [--methods NAME ...] [--axis n ...]   measure what is not measured yet
python -m benchmarks.costs --show                    the table of exponents, and docs/costs.png
python -m benchmarks.costs --write                   fit the constants of `en.estimate`
python -m benchmarks.costs --check [--seed 0]        estimates beside fits of other shapes

Each point is a fit in a separate process, one thread, kept in docs/costs.json: CPU seconds
without compiling, and the bytes that it adds at its peak. A method's larger sizes are left out
after one that took more than 10 seconds.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import ensemblage as en
from benchmarks.shapes import noisy
from ensemblage._memory import peak_memory
from ensemblage.flow import compiling
from ensemblage.methods import estimating
from ensemblage.methods._reliability import without_comparison

DOCS = Path(__file__).parents[1] / "docs"
RECORDS = DOCS / "costs.json"
CONSTANTS = Path(estimating.__file__).with_name("_costs.py")
SHOWN = ("consensus", "lwgp", "ptgp", "pta", "vote")
LONG_ENOUGH = 10.0
#: (objects, members, different rows, clusters of a member, k)
BASE = {"N": 4_000, "M": 20, "n": 4_000, "C": 20, "k": 20}
AXES = {
    "n": [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 100_000],
    "M": [5, 10, 20, 40, 80, 160, 320],
    "C": [5, 10, 20, 40, 80, 160],
    "k": [5, 10, 20, 40, 80],
    "N": [10_000, 100_000, 1_000_000, 10_000_000],
}
#: Of 300 members with 12 clusters each: for methods whose cost depends on the smaller side.
FEW_ROWS = [300, 600, 1_200, 2_400]
TITLES = {
    "n": "n: different rows",
    "M": "M: clusterings",
    "C": "clusters of a clustering",
    "k": "k: clusters wanted",
    "N": "N: objects",
}
#: Terms that may be in the cost of any method; NNLS finds which are.
FOR_SECONDS = ("1", "N·M", "n·M", "n·M²", "n·M·k", "n·k²", "C³")
FOR_BYTES = ("1", "N·M", "n·M", "n·M·k")
OF_METHOD = {
    "consensus": (
        ("pairs·M", "shared, ungrouped", "groups", "groups·C", "C²·k"),
        ("pairs", "lists", "groups", "C²"),
    ),
    "lwea": (("pairs·M", "shared", "C²"), ("pairs", "lists", "C²")),
    "eac": (("pairs·M", "shared"), ("pairs", "lists")),
    "weac": (("pairs·M", "shared"), ("pairs", "lists")),
    "lwgp": (("C²·k", "C²"), ("C²",)),
    "vote": (("C²",), ("C²",)),
    "ptgp": (("n·C·K·T", "n·k·K·T", "compared", "n·C", "C²·k"), ("n·C", "n·k·K·T", "C²")),
    "lwpt": (("rank³", "rank²·M", "n·M² of columns", "started²"), ("rank·C", "started²")),
    "pta": (("n²·K·T", "n²", "n²·M"), ("n²",)),
}
OTHERS = (("n²", "n²·M", "C³ in all", "n·C", "C²"), ("n²", "C²", "n·C"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=[*OF_METHOD])
    parser.add_argument("--axis", nargs="+", choices=AXES, default=[*AXES])
    for flag in ("--show", "--write", "--check"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.show:
        show()
    elif given.write:
        write()
    elif given.check:
        check(given.methods, given.seed)
    else:
        for method in given.methods:
            measure(method, given.axis)


# -- measuring -------------------------------------------------------------------------------------


def measure(method: str, axes: list[str]) -> None:
    known = {(r["method"], r["axis"], r["size"]) for r in records()}
    few = {"few rows": FEW_ROWS} if "rank³" in OF_METHOD[method][0] else {}
    for axis, all_sizes in ({axis: AXES[axis] for axis in axes} | few).items():
        for size in all_sizes:
            if (method, axis, size) in known:
                continue
            sizes = BASE | ({"n": size, "N": size} if axis in ("n", "few rows") else {axis: size})
            sizes |= {"M": 300, "C": 12} if axis == "few rows" else {}
            found = one_fit(method, sizes)
            record = {"method": method, "axis": axis, "size": size, **found}
            print(json.dumps(record), flush=True)
            RECORDS.write_text(
                "[\n" + ",\n".join(map(json.dumps, [*records(), record])) + "\n]\n",
                encoding="utf-8",
            )
            if found["seconds"] > LONG_ENOUGH:
                break


def records() -> list[dict[str, Any]]:
    return json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else []


def one_fit(method: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Fit in a separate process; return seconds, bytes and the shape."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_fit, args=(send, method, sizes))
    process.start()
    send.close()
    found = receive.recv()
    process.join()
    return found


def _fit(send: Any, method: str, sizes: dict[str, int]) -> None:
    warnings.simplefilter("ignore")
    votes, _ = noisy(sizes["n"], sizes["M"], 0.25, 0, sizes["C"])
    few = votes[:: max(1, sizes["n"] // (16_000 if sizes["n"] > 15_000 else 4_500))]
    kind = en.METHODS[method]
    settings = {"n_jobs": 1, "random_state": 0}
    settings = {name: settings[name] for name in settings if name in kind._get_param_names()}
    with without_comparison():
        with compiling.kernels_for(everything=True):
            kind(3, **settings).fit(few)
        votes = np.tile(votes, (sizes["N"] // len(votes), 1))
        with peak_memory() as peak:
            begun = time.process_time()
            model = kind(sizes["k"], **settings).fit(votes)
            seconds = time.process_time() - begun
    shape = estimating.shape_of(model._ensemble, len(votes), sizes["k"])
    send.send({"seconds": round(seconds, 4), "bytes": peak.n_bytes or 0, "shape": shape})


# -- fitting ---------------------------------------------------------------------------------------


def write() -> None:
    """Fit the constants with relative errors, and write them into the package."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for record in records():
        by_method.setdefault(record["method"], []).append(record)
    parts: dict[str, dict[str, dict[str, float]]] = {"SECONDS": {}, "BYTES": {}}
    for method, found in sorted(by_method.items()):
        for_seconds, for_bytes = OF_METHOD.get(method, OTHERS)
        of_rank = ("C³", "n·M²") if "rank³" in for_seconds else ()  # its own terms instead
        every = [term for term in FOR_SECONDS if term not in of_rank]
        parts["SECONDS"][method] = _constants(found, "seconds", (*every, *for_seconds), 0.005)
        parts["BYTES"][method] = _constants(found, "bytes", (*FOR_BYTES, *for_bytes), 2e6)
    text = CONSTANTS.read_text(encoding="utf-8").split("SECONDS:")[0]
    for name, costs in parts.items():
        text += f"{name}: dict[str, dict[str, float]] = {json.dumps(costs, ensure_ascii=False)}\n"
    CONSTANTS.write_text(text, encoding="utf-8")


def _constants(
    found: list[dict[str, Any]], key: str, names: tuple[str, ...], floor: float
) -> dict[str, float]:
    """Return not negative constants; errors are relative to what was measured, or to `floor`."""
    measured = np.array([record[key] for record in found], dtype=float)
    sizes = [estimating.terms(estimating.Shape(*record["shape"])) for record in found]
    matrix = np.array([[size[name] for name in names] for size in sizes])
    scale = np.maximum(matrix.max(axis=0), 1e-300)
    error = np.maximum(measured, floor)
    constants = nnls(matrix / scale / error[:, None], measured / error)[0] / scale
    ratio = matrix @ constants / error
    worst = int(abs(np.log(np.maximum(ratio, 1e-9))).argmax())
    print(
        f"{found[0]['method']:10} {key}, {len(found)} fits: within a factor"
        f" {np.exp(abs(np.log(ratio)).max()):.2f} (median"
        f" {np.exp(np.median(abs(np.log(ratio)))):.2f}); worst {found[worst]['axis']} ="
        f" {found[worst]['size']:,}: {measured[worst]:.3g}, estimated"
        f" {ratio[worst] * error[worst]:.3g}"
    )
    return {
        name: float(f"{value:.3g}")
        for name, value in zip(names, constants, strict=True)
        if value > 0
    }


def check(methods: list[str], seed: int) -> None:
    """Compare estimates with fits of random shapes that the constants were not fitted to."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        sizes = {
            "n": int(10 ** rng.uniform(3, 4.6)),
            "M": int(10 ** rng.uniform(0.8, 2.2)),
            "C": int(rng.integers(5, 60)),
            "k": int(rng.integers(3, 40)),
        }
        sizes["N"] = sizes["n"] * int(10 ** rng.uniform(0, 1.5))
        for method in methods:
            found = one_fit(method, sizes)
            expected = estimating.of_shape(estimating.Shape(*found["shape"]), method)
            print(
                f"{method:10} {sizes}: {found['seconds']:.2f} s, estimated {expected.seconds:.2f};"
                f" {found['bytes'] / 1e6:.0f} MB, estimated {expected.bytes / 1e6:.0f}",
                flush=True,
            )


# -- showing ---------------------------------------------------------------------------------------


def show() -> None:
    """Print exponents of the larger half of each axis, and draw all points."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, places = plt.subplots(
        2, len(AXES), figsize=(10.5, 5), sharey="row", layout="constrained"
    )
    print("| grows with | " + " | ".join(SHOWN) + " |\n|---|" + "---:|" * len(SHOWN))
    for column, axis in enumerate(AXES):
        cells = []
        for method in SHOWN:
            points = sorted(
                (r["size"], r["seconds"], r["bytes"])
                for r in records()
                if (r["method"], r["axis"]) == (method, axis)
            )
            size, seconds, n_bytes = map(np.array, zip(*points, strict=True))
            half = len(size) // 2
            slopes = [
                np.polyfit(
                    np.log(size[half - 1 :]), np.log(np.maximum(values, 1e-9)[half - 1 :]), 1
                )
                for values in (seconds, n_bytes)
            ]
            cells.append(f"{slopes[0][0]:.1f} / {slopes[1][0]:.1f}")
            places[0, column].loglog(size, seconds, "o-", ms=3, label=en.METHODS[method].__name__)
            places[1, column].loglog(size, np.maximum(n_bytes, 1e5) / 1e9, "o-", ms=3)
        print(f"| {axis} | " + " | ".join(cells) + " |")
        places[0, column].set_title(TITLES[axis], fontsize=9)
        for place in places[:, column]:
            place.grid(alpha=0.3)
            place.xaxis.set_minor_formatter("")
            place.xaxis.set_major_locator(LogLocator(numticks=5))
    places[0, 0].set_ylabel("CPU seconds")
    places[1, 0].set_ylabel("GB above the votes")
    figure.legend(*places[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.savefig(DOCS / "costs.png", dpi=140)


if __name__ == "__main__":
    main()
