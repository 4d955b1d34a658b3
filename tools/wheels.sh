#!/bin/sh
# Builds the three distributions and tries the wheels in an environment that holds nothing else.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT INT TERM

rm -rf dist
for project in . integrations/langchain-arbiter integrations/llama-index-arbiter; do
  # Source first, then the wheel from it: both are what users get.
  .venv/bin/python -m build --no-isolation --outdir dist "$project" >"$room/build.log" 2>&1 ||
    { cat "$room/build.log" >&2; exit 1; }
done
ls -l dist/*.whl

if .venv/bin/python -m venv "$room/env" >/dev/null 2>&1; then
  install() { "$room/env/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$@"; }
else # a Python without ensurepip
  rm -rf "$room/env"
  .venv/bin/uv venv --quiet --python .venv/bin/python "$room/env"
  install() { .venv/bin/uv pip install --quiet --python "$room/env/bin/python" -c constraints.txt "$@"; }
fi

core=$(ls dist/arbiter_rag-*.whl)
.venv/bin/python tools/smoke.py size "$core"
try() { (cd "$room" && "$room/env/bin/python" -W error::DeprecationWarning:arbiter_rag "$root/tools/smoke.py" "$1"); }

install "$core"
try core
install "$core[openai,pdf]"
try pdf
install dist/langchain_arbiter-*.whl dist/llama_index_arbiter-*.whl
try integrations
