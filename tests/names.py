"""The methods that tests walk through."""

import ensemblage as en

#: One name of every method: "auto" is another name of "consensus".
METHODS = sorted(set(en.METHODS) - {"auto"})
