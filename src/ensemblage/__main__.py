"""``python -m ensemblage`` runs the command if it is not on the path."""

from ensemblage.cli import main

if __name__ == "__main__":
    main()
