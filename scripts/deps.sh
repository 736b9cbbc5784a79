#!/usr/bin/env bash
# Sees to it that what the build and the tests need is there. Installs the Debian packages that
# lack when it may (apt, as root) and names them otherwise; does nothing when nothing lacks.
#
#   libclang-dev              bindgen reads RocksDB's header with it
#   cmake g++ make pkg-config build RocksDB and its compression libraries
#   postgresql                the oracle: tests compare Weir's answers with a real server's
#   postgresql-client         psql, for the demo and the tests
set -euo pipefail

lacking=()

need_command() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || lacking+=("$2")
}

have_libclang() { # the library, and the headers of C itself that it comes with
    [[ -n ${LIBCLANG_PATH:-} ]] && return
    compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null &&
        compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null
}

have_postgres_server() {
    command -v initdb >/dev/null && return
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

need_command cmake cmake
need_command g++ g++
need_command make make
need_command pkg-config pkg-config
need_command psql postgresql-client
have_libclang || lacking+=(libclang-dev)
have_postgres_server || lacking+=(postgresql)

if ((${#lacking[@]})); then
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        echo "weir: these packages are needed and not installed: ${lacking[*]}" >&2
        echo "weir: on Debian or Ubuntu: sudo apt-get install ${lacking[*]}" >&2
        exit 1
    fi
    echo "installing ${lacking[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -q -y --no-install-recommends \
        -o Dpkg::Options::=--force-confold "${lacking[@]}"
fi

if ! command -v cargo >/dev/null; then
    echo "weir: no Rust toolchain (cargo) found: see https://rustup.rs" >&2
    exit 1
fi
for component in rustfmt clippy; do
    tool=${component/rustfmt/fmt}
    cargo "$tool" --version >/dev/null 2>&1 && continue
    if ! command -v rustup >/dev/null; then
        echo "weir: the Rust component $component is not installed" >&2
        exit 1
    fi
    rustup component add "$component"
done
