"""``python -m quorate`` is the command, for where it is not on the path."""

from quorate.cli import main

if __name__ == "__main__":
    main()
