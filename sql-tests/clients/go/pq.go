package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/lib/pq"
)

// runPq: lib/pq under database/sql.
func runPq() {
	// docs: connect
	db, err := sql.Open("postgres", url+"?sslmode=disable")
	must(err)
	defer db.Close()
	_, err = db.Exec("INSERT INTO payment VALUES ($1, 'ada', $2), ($3, 'bob', 3)", 1, 10.5, 2)
	must(err)
	rows, err := db.Query("SELECT account, total FROM balance ORDER BY account")
	must(err)
	defer rows.Close()
	// docs: end
	step("view", func() (any, error) { return all(rows, nil) })
	step("ping", func() (any, error) { return nil, db.Ping() })
	step("values", func() (any, error) {
		at := time.Date(2026, 2, 28, 12, 0, 0, 5000, time.UTC)
		return all(db.Query(
			`SELECT $1::int, $2::bigint, $3::float8, $4::text, $5::boolean, $6::timestamptz,
			 $7::date, $8::int[], $9::text[], $10::bytea, $11::text, $12::numeric(8,2), $13::jsonb`,
			1, int64(5_000_000_000), 1.5, "it's", true, at, at, pq.Array([]int64{1, 2}),
			pq.Array([]string{"a", "b,c"}), []byte{0, 255}, nil, "1.50", `{"a": 1}`))
	})
	step("types", func() (any, error) {
		rows, err := db.Query("SELECT id, amount, account FROM payment LIMIT 1")
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		var out [][]any
		for _, one := range types {
			precision, scale, _ := one.DecimalSize()
			out = append(out, []any{one.Name(), one.DatabaseTypeName(), precision, scale})
		}
		return out, err
	})
	step("conditions", func() (any, error) {
		return all(db.Query("SELECT id FROM payment WHERE id = ANY($1) AND amount > $2 LIMIT $3",
			pq.Array([]int64{1, 3}), 1, 1))
	})
	step("prepared", func() (any, error) {
		statement, err := db.Prepare("SELECT account FROM payment WHERE id = $1")
		if err != nil {
			return nil, err
		}
		defer statement.Close()
		var first, second string
		if err := statement.QueryRow(1).Scan(&first); err != nil {
			return nil, err
		}
		return []string{first, second}, statement.QueryRow(2).Scan(&second)
	})
	step("transaction", func() (any, error) {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec("INSERT INTO payment VALUES (20, 'tim', 1)"); err != nil {
			return nil, err
		}
		_, failed := tx.Exec("SELECT 1/$1::int", 0)
		_, stuck := tx.Exec("SELECT 1")
		return []string{text(failed), text(stuck)}, tx.Rollback()
	})
	step("copy", func() (any, error) {
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		copied, err := tx.Prepare(pq.CopyIn("payment", "id", "account", "amount"))
		if err != nil {
			return nil, err
		}
		for id := range 3 {
			if _, err := copied.Exec(100+id, "eve", 1.5); err != nil {
				return nil, err
			}
		}
		if _, err := copied.Exec(); err != nil {
			return nil, err
		}
		if err := copied.Close(); err != nil {
			return nil, err
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		return all(db.Query("SELECT total FROM balance WHERE account = 'eve'"))
	})
	step("errors", func() (any, error) {
		var out []string
		for _, query := range []string{"SELECT * FROM nosuch", "SELEC 1",
			"INSERT INTO payment VALUES (1, 'x', 1)"} {
			_, err := db.Exec(query)
			out = append(out, text(err))
		}
		return out, nil
	})
	step("cancelled", func() (any, error) {
		short, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(short, "SELECT pg_sleep(10)")
		return err != nil, nil
	})
}

// all is the rows of a result as text.
func all(rows *sql.Rows, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := [][]string{columns}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		places := make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = value.String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
