"""``python -m ensemblage`` is the command, for where it is not on the path."""

from ensemblage.cli import main

if __name__ == "__main__":
    main()
