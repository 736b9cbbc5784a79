#!/usr/bin/env bash
# Sees to it that the clients are there which `sql-tests/clients` tries: from the registries of their
# languages, in the versions that the files there pin, into a folder outside the checkout that all
# checkouts and runs share. Does nothing when they are there.
#
# A language whose toolchain or registry lacks is left out, and its tests with it, unless
# WEIR_CLIENTS_MUST is set: then everything must be. Remove the folder to start anew.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)/sql-tests/clients
home=${WEIR_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/weir-clients}
mkdir -p "$home"

# Tests run what has a mark that says which pins it was installed for.
is_there() { # LANGUAGE PINS
    [[ -f $home/$1.mark ]] && cmp -s "$home/$1.mark" "$2"
}

lacks() { # LANGUAGE WHAT
    rm -f "$home/$1.mark"
    echo "weir: $2 lacks: the clients of $1 are not tried" >&2
    [[ -z ${WEIR_CLIENTS_MUST:-} ]]
}

install_python() {
    local pins=$here/python/requirements.txt
    is_there python "$pins" && return
    rm -rf "$home/python"
    if ! python3 -m venv "$home/python"; then
        lacks python "python3 with venv"
        return
    fi
    echo "installing Python's clients"
    "$home/python/bin/pip" install --quiet --no-deps --requirement "$pins"
    cp "$pins" "$home/python.mark"
}

install_node() {
    local pins=$here/node/package-lock.json
    is_there node "$pins" && return
    if ! command -v npm >/dev/null; then
        lacks node "npm"
        return
    fi
    echo "installing node's clients"
    rm -rf "$home/node" && mkdir "$home/node"
    cp "$here/node/package.json" "$pins" "$home/node"
    npm ci --prefix "$home/node" --silent --no-audit --no-fund
    cp "$pins" "$home/node.mark"
}

install_jdbc() {
    local pins=$here/jdbc/version
    is_there jdbc "$pins" && return
    local version group=org.postgresql:postgresql
    version=$(<"$pins")
    if ! command -v javac >/dev/null || ! command -v mvn >/dev/null; then
        lacks jdbc "a JDK with Maven"
        return
    fi
    echo "installing pgjdbc"
    rm -rf "$home/jdbc" && mkdir "$home/jdbc"
    mvn --quiet --batch-mode -Dstyle.color=never dependency:copy -Dartifact="$group:$version" \
        -DoutputDirectory="$home/jdbc" -Dmdep.stripVersion=true
    cp "$pins" "$home/jdbc.mark"
}

install_go() {
    local pins=$here/go/go.sum
    is_there go "$pins" && return
    if ! command -v go >/dev/null; then
        lacks go "Go"
        return
    fi
    echo "installing Go's clients"
    # Into Go's own caches: the tests build from there.
    (cd "$here/go" && go build -o /dev/null .)
    cp "$pins" "$home/go.mark"
}

if (($#)); then
    "install_$1"
    exit
fi

# One at a time.
exec 9>"$home/lock"
flock 9
# Each in a process of its own: a step that fails ends it.
for language in python node jdbc go; do
    "$0" "$language" 9>&- || lacks "$language" "the registry"
done
