#!/usr/bin/env bash
# Sees to it that the clients are there which `sql-tests/clients` tries: from the registries of their
# languages, in the versions that the files there pin, into a folder outside the checkout that all
# checkouts and runs share. Does nothing when they are there.
#
# A language whose toolchain or registry lacks is left out, and its tests with it, unless
# WEIR_CLIENTS_MUST is set: then everything must be. Remove the folder to start anew.
#
# With WEIR_CLIENTS_HEAVY set it installs the clients that take minutes to try, too.
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

install_rust() {
    local pins=$here/rust/Cargo.lock
    is_there rust "$pins" && return
    echo "installing Rust's clients"
    rm -rf "$home/rust"
    cargo build --quiet --locked --manifest-path "$here/rust/Cargo.toml" --target-dir "$home/rust"
    cp "$pins" "$home/rust.mark"
}

# A language whose packages are Python's, in an environment of their own.
install_from_pypi() { # LANGUAGE [PINS]
    local pins=${2:-$here/$1/requirements.txt}
    is_there "$1" "$pins" && return
    rm -rf "${home:?}/$1"
    if ! python3 -m venv "$home/$1"; then
        lacks "$1" "python3 with venv"
        return
    fi
    echo "installing the clients of $1 from PyPI"
    "$home/$1/bin/pip" install --quiet --no-deps --requirement "$pins"
    cp "$pins" "$home/$1.mark"
}

install_python() { install_from_pypi python; }
install_terminal() { install_from_pypi terminal; }
install_dbt() { install_from_pypi dbt; }

# Applications that are used in a browser, the browser, and what drives it: that comes last, so that
# its mark says that all is there.
install_browser() {
    if ! command -v chromium >/dev/null; then
        if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
            lacks browser "Debian's chromium"
            return
        fi
        echo "installing Chromium"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q
        apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core
    fi
    install_from_pypi superset "$here/browser/superset.txt"
    install_from_pypi pgadmin "$here/browser/pgadmin.txt"
    install_from_pypi browser
}

install_odbc() {
    if ! odbcinst -q -d -n "PostgreSQL Unicode" >/dev/null 2>&1; then
        if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
            lacks odbc "the driver (Debian's odbc-postgresql, with unixodbc and odbcinst)"
            return
        fi
        echo "installing the ODBC driver"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q
        apt-get install -q -y --no-install-recommends odbc-postgresql unixodbc odbcinst
    fi
    install_from_pypi odbc
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

languages=(python node jdbc go rust terminal odbc)
[[ -z ${WEIR_CLIENTS_HEAVY:-} ]] || languages+=(dbt browser)

# One at a time.
exec 9>"$home/lock"
flock 9
# Each in a process of its own: a step that fails ends it.
for language in "${languages[@]}"; do
    "$0" "$language" 9>&- || lacks "$language" "the registry"
done
