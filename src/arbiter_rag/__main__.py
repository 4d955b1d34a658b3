"""`python -m arbiter_rag`: the command line."""

from arbiter_rag.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
