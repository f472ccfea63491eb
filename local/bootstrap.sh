# Sourced by the commands at the top of the repository: brings Node.js 24 and the npm packages,
# and leaves the path of that Node.js in $node. Says in one line what is missing when it can't.

node=node_modules/node/bin/node
fail() { echo "$1" >&2; exit 1; }

command -v npm >/dev/null || {
  [ "$(id -u)" = 0 ] || fail "npm is missing: install Node.js 18 or newer with npm, or run this as root"
  echo "installing npm" >&2
  { apt-get update && apt-get install -y --no-install-recommends npm; } >/dev/null 2>&1 ||
    fail "npm is missing and apt-get can't install it: check the network, or install Node.js 18 or newer with npm"
}

# npm writes this file last, so a broken-off install is done again.
if [ ! -x "$node" ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  echo "installing npm packages" >&2
  log=$(mktemp)
  npm ci --no-audit --no-fund >"$log" 2>&1 ||
    fail "npm ci failed, is the npm registry reachable? $(grep -m1 'npm error' "$log")"
  rm -f "$log"
  touch node_modules/.package-lock.json
fi
