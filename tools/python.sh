#!/bin/sh
# Runs a Python that baseload can be built with: python.sh "WANTED" ARGUMENT...
# WANTED names the interpreter; empty: the first of the usual names that is new enough and can make environments.
# A name that is there may still not run (a version manager's shim), so each candidate is asked for its version.
set -eu

wanted=$1
shift

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

too_old=
without_venv=
for candidate in ${wanted:-python3 python3.13 python3.12 python3.11 python}; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if ! new_enough "$candidate"; then
        too_old="$too_old $candidate"
    elif ! "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        without_venv=${without_venv:-$candidate}
    else
        exec "$candidate" "$@"
    fi
done

if [ -n "$without_venv" ]; then
    version=$("$without_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "baseload: $without_venv (Python $version) cannot make virtual environments: ensurepip is missing." >&2
    echo "On Debian and Ubuntu: apt-get install python$version-venv" >&2
else
    echo "baseload needs Python 3.11 or newer, and found none${wanted:+ at $wanted}${too_old:+ (too old or not running:$too_old)}." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12 TARGET" >&2
fi
exit 1
