#!/usr/bin/env bash
# Shows Weir at work for a minute: a stream of auctions under four views, New York's flights under
# one more, the numbers as they change, and a kill -9 in the middle, after which they go on.
#
# DEMO_SECONDS (60), DEMO_RATE (events a second, 5000), DEMO_PORT and DEMO_HTTP_PORT (5454, 5455).
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${DEMO_SECONDS:-60}
rate=${DEMO_RATE:-5000}
port=${DEMO_PORT:-5454}
http_port=${DEMO_HTTP_PORT:-5455}
weir=${CARGO_TARGET_DIR:-target}/debug/weir
folder=$(mktemp -d -t weir-demo-XXXXXX)
server=

stop_server() { # SIGNAL
    [[ -n $server ]] || return 0
    kill -s "$1" "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}
trap 'stop_server TERM; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

ask() { # SQL... : unadorned rows
    psql -X -q -A -t -F ' ' -h 127.0.0.1 -p "$port" -U weir -d weir -v ON_ERROR_STOP=1 "$@"
}

start_server() {
    "$weir" serve --data "$folder/data" --listen "127.0.0.1:$port" \
        --http "127.0.0.1:$http_port" >>"$folder/log" 2>&1 &
    server=$!
    local try
    for ((try = 0; try < 600; try++)); do
        ask -c 'SELECT 1' >/dev/null 2>&1 && return
        if ! kill -0 "$server" 2>/dev/null; then
            echo "the server ended:" >&2
            tail -n 20 "$folder/log" >&2
            exit 1
        fi
        sleep 0.05
    done
    echo "the server takes no session" >&2
    exit 1
}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "Weir on 127.0.0.1:$port (psql -h 127.0.0.1 -p $port -U weir), data in $folder"
start_server

say "A stream of auctions, $rate events a second, and four views"
statements=(
    "CREATE SOURCE person WITH (connector = 'nexmark', event_type = 'person', rate = $rate)"
    "CREATE SOURCE auction WITH (connector = 'nexmark', event_type = 'auction', rate = $rate)"
    "CREATE SOURCE bid WITH (connector = 'nexmark', event_type = 'bid', rate = $rate)"
    "CREATE MATERIALIZED VIEW high_bids AS
       SELECT auction, bidder, price FROM bid WHERE price > 50000000"
    "CREATE MATERIALIZED VIEW channels AS
       SELECT channel, count(*) AS bids, sum(price) AS total FROM bid GROUP BY channel"
    "CREATE MATERIALIZED VIEW sellers AS
       SELECT p.name, p.city, p.state, a.id AS auction
       FROM auction a JOIN person p ON a.seller = p.id WHERE a.category = 10"
    "CREATE MATERIALIZED VIEW states AS
       SELECT state, count(*) AS auctions, count(DISTINCT name) AS names FROM sellers GROUP BY state"
)
for statement in "${statements[@]}"; do
    echo "$statement;"
    ask -c "$statement"
done

say "New York's flights of 2013, and one view over them"
data=sql-tests/data/nycflights13
ask -f "$data/schema.sql"
for table in airlines airports planes weather flights; do
    printf '%s: ' "$table"
    gzip -dc "$data/$table.csv.gz" |
        psql -X -A -t -h 127.0.0.1 -p "$port" -U weir -d weir -v ON_ERROR_STOP=1 \
            -c "COPY $table FROM STDIN WITH (FORMAT csv, HEADER, NULL 'NA')"
done
view="CREATE MATERIALIZED VIEW delays AS
       SELECT a.name, count(*) AS flights, round(avg(f.dep_delay), 1) AS minutes_late
       FROM flights f JOIN airlines a ON a.carrier = f.carrier GROUP BY a.name"
echo "$view;"
ask -c "$view"

show() { # one line of the table: what the views say now
    ask -c "
        SELECT (SELECT sum(bids) FROM channels),
               (SELECT count(*) FROM high_bids),
               (SELECT count(*) FROM sellers),
               (SELECT auctions FROM states WHERE state = 'OR'),
               (SELECT flights || ' ' || minutes_late FROM delays WHERE name LIKE 'JetBlue%')"
}

# How old a row is when a reader sees it: from sending an INSERT to reading it in a view.
ask -c "CREATE TABLE beat (at bigint)" \
    -c "CREATE MATERIALIZED VIEW beats AS SELECT count(*) AS n, max(at) AS last FROM beat"
freshness() {
    local sent=${EPOCHREALTIME/./} seen
    seen=$(ask -c "INSERT INTO beat VALUES ($sent)" -c "SELECT last FROM beats")
    [[ $seen == "$sent" ]] || { echo "the view does not show an acknowledged row" >&2; exit 1; }
    echo $(((${EPOCHREALTIME/./} - sent) / 1000))
}

say "The views as they change (fresh: from sending a row to reading it in a view, with psql's start)"
printf '%5s %12s %8s %8s %10s %10s %8s   %s\n' \
    second bids 'bids/s' fresh 'high bids' sellers Oregon 'JetBlue: flights, minutes late'
read -r before _ < <(show)
last_us=${EPOCHREALTIME/./}
for ((second = 1; second <= seconds; second++)); do
    sleep 1
    if ((second == seconds / 2)); then
        say "kill -9 $server"
        stop_server KILL
        killed=${EPOCHREALTIME/./}
        start_server
        say "started again; the first answer came $(((${EPOCHREALTIME/./} - killed) / 1000)) ms later"
    fi
    # The flights change as well: some are found to have been later than reported.
    ask -c "UPDATE flights SET dep_delay = dep_delay + 1 WHERE carrier = 'B6' AND day = $((second % 28 + 1))"
    fresh=$(freshness)
    read -r bids high sellers oregon flights late < <(show)
    now_us=${EPOCHREALTIME/./}
    per_second=$(((bids - before) * 1000000 / (now_us - last_us)))
    printf '%5s %12s %8s %5s ms %10s %10s %8s   %s %s\n' \
        "$second" "$bids" "$per_second" "$fresh" "$high" "$sellers" "$oregon" "$flights" "$late"
    ((bids >= before)) || { echo "bids were lost" >&2; exit 1; }
    before=$bids
    last_us=$now_us
done

say "The busiest channels, the states, the airlines that are latest"
psql_table() { psql -X -h 127.0.0.1 -p "$port" -U weir -d weir -c "$1"; }
psql_table "SELECT channel, bids, total FROM channels ORDER BY bids DESC LIMIT 4"
psql_table "SELECT * FROM states ORDER BY auctions DESC"
psql_table "SELECT * FROM delays ORDER BY minutes_late DESC LIMIT 5"
say "Done. 'cargo run -- serve' starts a server of your own."
