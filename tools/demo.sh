#!/bin/sh
# The main job on a sample: what the document holds, a question it answers, and one it does not.
set -eu
policy=$1
arbiter=.venv/bin/arbiter-rag

ask() {
  echo
  echo "\$ arbiter-rag ask $policy \"$1\""
  status=0
  "$arbiter" ask "$policy" "$1" --no-cache || status=$?
  if [ "$status" -ne "$2" ]; then
    echo "demo: exit status $status where $2 was expected" >&2
    exit 1
  fi
}

echo "\$ arbiter-rag inspect $policy"
"$arbiter" inspect "$policy" --no-cache
ask "What is the deductible for water damage?" 0
ask "Is damage by flood excluded?" 0
ask "Which dental treatments are reimbursed?" 1
