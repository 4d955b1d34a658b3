#!/bin/sh
# Sets up .venv: `run` = the library and what reads PDFs, `dev` = also the integrations, the tests and the linters.
set -eu
cd "$(dirname "$0")/.."
what=${1:-dev}
say() { echo "set-up: $*" >&2; }

good_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if good_python "$name"; then command -v "$name"; return; fi
  done
}

if [ -e .venv ] && ! good_python .venv/bin/python; then
  say ".venv holds no Python 3.11 or newer: making it anew"
  rm -rf .venv
fi

python=$(find_python)
if command -v uv >/dev/null 2>&1; then
  say "uv $(uv --version | cut -d' ' -f2), versions of uv.lock"
  [ -z "$python" ] || export UV_PYTHON="$python"
  if [ "$what" = dev ]; then
    uv sync --locked --inexact --all-packages --all-groups --extra audit --extra layout --extra openai --extra pdf
  else
    uv sync --locked --inexact --no-dev --extra pdf
  fi
else
  if [ -z "$python" ]; then
    say "Python 3.11 or newer is needed and none is on the path (python3 is $(python3 --version 2>&1 || echo missing))."
    say "Install one, or install uv, which brings its own; or name one: make $what PYTHON=/path/to/python3.12"
    exit 1
  fi
  if [ ! -e .venv ] && ! "$python" -m venv .venv; then
    rm -rf .venv
    say "$python cannot make a virtual environment. On Debian and Ubuntu its part for that is a package of its own:"
    say "    apt install python3-venv      (or install uv, which needs none)"
    exit 1
  fi
  .venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip --upgrade >/dev/null
  say "pip with $(.venv/bin/python --version), versions of constraints.txt; this takes a minute or two"
  # Dependency groups need pip 25.1; what a distribution ships may be older.
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
  if [ "$what" = dev ]; then
    set -- -e '.[audit,layout,openai,pdf]' -e integrations/langchain-arbiter -e integrations/llama-index-arbiter \
      --group dev --group integrations/langchain-arbiter/pyproject.toml:dev \
      --group integrations/llama-index-arbiter/pyproject.toml:dev
  else
    set -- -e '.[pdf]'
  fi
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "$@"
fi

touch .venv/.ready-run
[ "$what" = run ] || touch .venv/.ready-dev
say "ready"
