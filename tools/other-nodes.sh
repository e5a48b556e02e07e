#!/usr/bin/env bash
# The same plans, a package from npm that nobody wrote for fencepost, and a lock in TypeScript run
# alike under other versions of Node, and so does each package of fixtures/packages on its driver:
# `tools/other-nodes.sh [version…]`. FENCEPOST_SEEDS says on how many seeds.
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(mktemp -d)
seeds=${FENCEPOST_SEEDS:-20}
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$output"' EXIT

untimed() { sed -E 's/"(seeds|events)PerSecond":[0-9]+,//g'; }
plans=(fixtures/plans/*.yaml fixtures/modules/plans/*.yaml)
package=(fixtures/modules/npm-redlock-late-reply.yaml --seeds "$seeds" --check-determinism --quiet --json)
results() {
  local folder
  folder=$(mktemp -d -p "$output")
  "$@" dist/cli.js replay "${plans[@]}" --json
  "$@" dist/cli.js run "${package[@]}" --output "$folder" | untimed | sed "s#$folder##g"
  "$@" tools/endings.mjs 2>/dev/null
  "$@" tools/package-digests.mjs
}

# What runs first in a thread finds there what Node sets up only then.
firsts() {
  "$@" tools/first-runs/plain-threads.mjs
  "$@" tools/first-runs/tests.mjs
}

# The versions beside one another: each runs on one core.
[ $# -gt 0 ] || set -- 22 24
results node >"$output/own" &
own=$!
declare -A others
for version in "$@"; do
  # The first call fetches that Node; two at once would be in each other's way.
  npx --yes -p "node@$version" node --version >/dev/null
  (results npx --yes -p "node@$version" node >"$output/$version") &
  others[$version]=$!
done
wait "$own"
firsts node
for version in "$@"; do
  wait "${others[$version]}"
  if ! diff "$output/own" "$output/$version" >&2; then
    echo "Node $version comes to something else" >&2
    exit 1
  fi
  # What a new version of Node brings may leak the machine into simulated processes.
  npx --yes -p "node@$version" node node_modules/vitest/vitest.mjs run --reporter=dot \
    src/host/async/{leaks,globals,async-context} >"$output/leaks" 2>&1 ||
    { cat "$output/leaks" >&2; exit 1; }
  firsts npx --yes -p "node@$version" node
  echo "Node $version: every plan replays to the same digest, $seeds seeds of a lock on redlock come to the same,"
  echo "  and so do the packages of fixtures/packages, and a lock with each ending of TypeScript and"
  echo "  JavaScript; nothing of Node leaks"
done
