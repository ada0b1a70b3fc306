#!/usr/bin/env bash
# Exports one set of pages with Bindery and builds it with Hugo, in turn, in one run on this machine, and prints
# pages per CPU second (user and system, of the whole command) and the ratio.
#
#   usage: PEERS_DIR=… tests/compare_hugo.sh [1x|4x] [RUNS]
#
# PEERS_DIR is prepared as the README of the shared folder's peers says: bin/hugo, corpus/SIZE, sites/hugo-SIZE.
# Hugo keeps its navigation cached, its fastest way. Bindery's command does more than Hugo's: it packs, uploads,
# exports, compresses, downloads and checks.
set -euo pipefail
cd "$(dirname "$0")/.."
size=${1:-1x}
runs=${2:-3}
: "${PEERS_DIR:?PEERS_DIR is not set: see the head of this script}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/bindery" ./infra/cmd/bindery
cp -r "$PEERS_DIR/corpus/$size/docs" "$work/site"
python3 - "$PEERS_DIR/corpus/$size/sidebar.json" "$work/site/docs.json" <<'PY'
import json, sys
def node(x):
    if "items" in x:
        pages = ([x["link"].strip("/")] if x.get("link") else []) + [node(y) for y in x["items"]]
        return {"group": x["text"], "pages": pages}
    return x["link"].strip("/")
side = json.load(open(sys.argv[1]))
json.dump({"name": "Corpus", "theme": "mint", "colors": {"primary": "#0055aa"},
           "navigation": {"pages": [node(x) for x in side]}}, open(sys.argv[2], "w"))
PY
pages=$(find "$work/site" -name '*.md' | wc -l)

cpu() { # runs a command, prints user + system seconds
  env time -f '%U %S' -o "$work/time" "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
  awk '{print $1 + $2}' "$work/time"
}
hugo() {
  (cd "$PEERS_DIR/sites/hugo-$size" && rm -rf public resources .hugo_build.lock .cache &&
    HUGO_PARAMS_NAV=cached HUGO_CACHEDIR=$PWD/.cache cpu "$PEERS_DIR/bin/hugo" build)
}
for run in $(seq "$runs"); do
  h=$(hugo)
  b=$(cpu "$work/bindery" run "$work/site" --out "$work/bundle.tar.gz")
  echo "$h $b" | awk -v n="$pages" -v r="$run" \
    '{printf "run %d: %d pages · Hugo %.0f · Bindery %.0f pages per CPU second · ratio %.2f\n", r, n, n/$1, n/$2, $1/$2}'
done
