"""The arrays of the datasets, where they were fetched to."""

from ensemblage import tables


def arrays_of(data_folder, name):
    return tables.read_arrays(data_folder / "data" / f"{name.replace('-', '_')}.npz")
