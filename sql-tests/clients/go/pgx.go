package main

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

type total struct {
	Account  string
	Payments int64
	Total    pgtype.Numeric
}

// runPgx: pgx v5 in all its ways to run a query, batches, COPY, transactions, pools.
func runPgx() {
	ctx := context.Background()
	// docs: connect
	conn, err := pgx.Connect(ctx, url)
	must(err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "INSERT INTO payment VALUES ($1, 'ada', $2), ($3, 'bob', 3)", 1, 10.5, 2)
	must(err)
	rows, err := conn.Query(ctx, "SELECT account, payments, total FROM balance ORDER BY account")
	must(err)
	totals, err := pgx.CollectRows(rows, pgx.RowToStructByPos[total])
	must(err)
	// docs: end
	step("view", func() (any, error) { return totals, nil })

	modes := map[string]pgx.QueryExecMode{
		"cacheStatement": pgx.QueryExecModeCacheStatement,
		"cacheDescribe":  pgx.QueryExecModeCacheDescribe,
		"describeExec":   pgx.QueryExecModeDescribeExec,
		"exec":           pgx.QueryExecModeExec,
		"simple":         pgx.QueryExecModeSimpleProtocol,
	}
	at := time.Date(2026, 2, 28, 12, 0, 0, 5000, time.UTC)
	for _, name := range []string{
		"cacheStatement", "cacheDescribe", "describeExec", "exec", "simple",
	} {
		step(name, func() (any, error) {
			rows, err := conn.Query(ctx,
				`SELECT $1::int, $2::bigint, $3::float8, $4::text, $5::boolean, $6::timestamptz,
				 $7::date, $8::int[], $9::text[], $10::bytea, $11::text, $12::numeric(8,2), $13::jsonb`,
				modes[name], 1, int64(5_000_000_000), 1.5, "it's", true, at, at, []int32{1, 2},
				[]string{"a", "b,c"}, []byte{0, 255}, nil, "1.50", `{"a": 1}`)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowToMap)
		})
	}
	step("types", func() (any, error) {
		rows, err := conn.Query(ctx, `SELECT '1 day 02:00'::interval AS i, '12:34:56'::time AS t,
			'12345678-1234-5678-1234-567812345678'::uuid AS u, 1::smallint AS s, 0.5::real AS r,
			'{"k": [1]}'::json AS j, '2026-02-28 12:00:00'::timestamp AS ts, 'x'::varchar(3) AS v,
			'{1.5,2}'::numeric(4,1)[] AS n, 12::oid AS o, 'c'::"char" AS c, 'pg_class'::name AS na`)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToMap)
	})
	step("table", func() (any, error) {
		_, err := conn.Exec(ctx, `CREATE TABLE every
			(id int PRIMARY KEY, at timestamptz, about jsonb, tags text[], price numeric(8,2))`)
		if err != nil {
			return nil, err
		}
		for id := range 3 {
			_, err = conn.Exec(ctx, "INSERT INTO every VALUES ($1, $2, $3, $4, $5)",
				id, at, map[string]int{"k": id}, []string{"a"}, "1.5")
			if err != nil {
				return nil, err
			}
		}
		_, err = conn.Exec(ctx, "INSERT INTO every VALUES ($1, $2, $3, $4, $5)", 9, nil, nil, nil, nil)
		if err != nil {
			return nil, err
		}
		rows, err := conn.Query(ctx, "SELECT * FROM every WHERE id = ANY($1) ORDER BY id", []int{1, 9})
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToMap)
	})
	step("batch", func() (any, error) {
		batch := &pgx.Batch{}
		for id := range 3 {
			batch.Queue("INSERT INTO payment VALUES ($1, 'eve', $2)", 100+id, id)
		}
		batch.Queue("SELECT count(*) FROM payment WHERE account = $1", "eve")
		results := conn.SendBatch(ctx, batch)
		for range 3 {
			if _, err := results.Exec(); err != nil {
				return nil, err
			}
		}
		var count int
		if err := results.QueryRow().Scan(&count); err != nil {
			return nil, err
		}
		return count, results.Close()
	})
	step("failedBatch", func() (any, error) {
		batch := &pgx.Batch{}
		batch.Queue("INSERT INTO payment VALUES (200, 'x', 1)")
		batch.Queue("SELECT 1/$1::int", 0)
		batch.Queue("SELECT 1")
		failed := text(conn.SendBatch(ctx, batch).Close())
		var count int
		err := conn.QueryRow(ctx, "SELECT count(*) FROM payment WHERE id = 200").Scan(&count)
		return []any{failed, count}, err
	})
	step("copy", func() (any, error) {
		count, err := conn.CopyFrom(ctx, pgx.Identifier{"every"}, []string{"id", "at", "tags"},
			pgx.CopyFromRows([][]any{{300, at, []string{"x"}}, {301, nil, nil}}))
		if err != nil {
			return nil, err
		}
		_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader("302,1.5\n"),
			"COPY every (id, price) FROM STDIN WITH (FORMAT csv)")
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		tag, err := conn.PgConn().CopyTo(ctx, &out,
			"COPY (SELECT * FROM every WHERE id >= 300 ORDER BY id) TO STDOUT")
		return []any{count, out.String(), tag.String()}, err
	})
	step("transactions", func() (any, error) {
		failed := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO payment VALUES (20, 'tim', 1)"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "SELECT 1/0")
			return err
		})
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		tx, err := conn.BeginTx(ctx, options)
		if err != nil {
			return nil, err
		}
		_, readOnly := tx.Exec(ctx, "DELETE FROM payment")
		if err := tx.Rollback(ctx); err != nil {
			return nil, err
		}
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			nested := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "SELECT 1/0")
				return err
			})
			_, err := tx.Exec(ctx, "SELECT $1::text", text(nested))
			return err
		})
		return []string{text(failed), text(readOnly)}, err
	})
	step("errors", func() (any, error) {
		var out []string
		for _, sql := range []string{"SELECT * FROM nosuch", "SELEC 1",
			"INSERT INTO payment VALUES (1, 'x', 1)"} {
			_, err := conn.Exec(ctx, sql)
			out = append(out, text(err))
		}
		return out, nil
	})
	step("cancelled", func() (any, error) {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		other, err := pgx.Connect(ctx, url)
		if err != nil {
			return nil, err
		}
		_, err = other.Exec(short, "SELECT pg_sleep(10)")
		return err != nil, nil
	})
	step("ping", func() (any, error) { return nil, conn.Ping(ctx) })
	step("pool", func() (any, error) {
		pool, err := pgxpool.New(ctx, url)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		var sum int
		for n := range 5 {
			var one int
			if err := pool.QueryRow(ctx, "SELECT $1::int", n).Scan(&one); err != nil {
				return nil, err
			}
			sum += one
		}
		return sum, pool.Ping(ctx)
	})
	step("loadType", func() (any, error) {
		loaded, err := conn.LoadType(ctx, "_int4")
		if err != nil {
			return nil, err
		}
		return loaded.Name, nil
	})
}
