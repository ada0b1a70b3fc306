#!/usr/bin/env bash
# Ends what deploy.sh started in the folder LOCAL_DIR: first by asking, which
# saves the state, then with everything that it started.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${LOCAL_DIR:-$PWD/.cache/local}
[ -f "$dir/ministack.pid" ] || exit 0
pid=$(cat "$dir/ministack.pid")
# Numbers of processes are used again: end only what runs MiniStack.
if { cat "/proc/$pid/cmdline" 2>/dev/null || ps -p "$pid" -o args= 2>/dev/null; } | grep -aq ministack; then
  kill -TERM "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  # It leads a group of its own, in which its functions are.
  kill -KILL -- "-$pid" 2>/dev/null || true
fi
rm -f "$dir/ministack.pid"
