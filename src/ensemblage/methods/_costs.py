"""Constants of `ensemblage.methods.estimating`, fitted by `benchmarks.costs --write`."""

from __future__ import annotations

SECONDS: dict[str, dict[str, float]] = {
    "consensus": {
        "1": 0.0716,
        "N·M": 6.25e-09,
        "n·M": 6.32e-07,
        "n·M·k": 4.1e-10,
        "n·k²": 9.21e-09,
        "pairs·M": 4.99e-10,
        "shared, ungrouped": 3.99e-09,
        "groups": 2.73,
        "C²·k": 3.81e-09,
    },
    "eac": {
        "1": 0.0373,
        "N·M": 4.53e-09,
        "n·k²": 5.29e-09,
        "pairs·M": 1.09e-10,
        "shared": 5.24e-09,
    },
    "lwea": {
        "1": 0.054,
        "N·M": 3.99e-09,
        "n·k²": 3.22e-09,
        "pairs·M": 3.53e-10,
        "shared": 4.81e-09,
        "C²": 3.05e-11,
    },
    "lwgp": {
        "1": 0.0398,
        "N·M": 2.2e-09,
        "n·M": 3.25e-07,
        "n·k²": 9.59e-09,
        "C³": 3.98e-11,
        "C²·k": 4.2e-09,
    },
    "lwpt": {"1": 0.00631, "n·k²": 1.36e-07, "C³": 2.12e-10, "n·C·K·T": 2.47e-10},
    "pta": {"N·M": 3.11e-09, "C³": 1.52e-10, "n²·K·T": 1.81e-10, "n²": 9.06e-08},
    "ptgp": {
        "N·M": 9.07e-09,
        "n·M": 5.22e-06,
        "n·k²": 7.65e-08,
        "n·C·K·T": 3.88e-10,
        "compared": 2.53e-09,
    },
    "vote": {
        "1": 0.0113,
        "N·M": 1.91e-09,
        "n·M": 2.47e-07,
        "n·M·k": 6.27e-09,
        "C³": 6.91e-12,
        "C²": 4.89e-09,
    },
    "weac": {
        "1": 0.0293,
        "N·M": 4.97e-09,
        "n·M": 2.83e-07,
        "n·k²": 1.45e-09,
        "pairs·M": 1.11e-09,
        "shared": 4.43e-09,
    },
}
BYTES: dict[str, dict[str, float]] = {
    "consensus": {"N·M": 0.786, "pairs": 7.57, "lists": 96.8, "groups": 119000000.0, "C²": 0.0501},
    "eac": {"1": 189000.0, "N·M": 0.199, "n·M": 2.68, "n·M·k": 0.0519, "pairs": 8.1, "lists": 80.7},
    "lwea": {
        "1": 182000.0,
        "N·M": 0.204,
        "n·M": 1.06,
        "n·M·k": 0.165,
        "pairs": 8.04,
        "lists": 74.5,
    },
    "lwgp": {"1": 1120000.0, "N·M": 0.568, "n·M": 26.6, "n·M·k": 0.441, "C²": 2.25},
    "lwpt": {"N·M": 398.0, "n·C": 2.64},
    "pta": {"1": 168000.0, "N·M": 0.192, "n·M": 0.178, "n²": 16.2},
    "ptgp": {"N·M": 0.576, "n·C": 7.34, "n·k·K·T": 0.437, "C²": 3.21},
    "vote": {"N·M": 0.47, "n·M": 10.8, "n·M·k": 0.235, "C²": 0.731},
    "weac": {"1": 1240000.0, "N·M": 0.168, "n·M": 79.1, "pairs": 8.04},
}
