// Clients in Go: `clients pgx` and `clients pq` run one of them against DATABASE_URL.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

var url = os.Getenv("DATABASE_URL")

func main() {
	if os.Args[1] == "pgx" {
		runPgx()
	} else {
		runPq()
	}
}

// text is an error's SQLSTATE and message.
func text(err error) string {
	var ofPgx *pgconn.PgError
	var ofPq *pq.Error
	switch {
	case errors.As(err, &ofPgx):
		return ofPgx.Code + " " + ofPgx.Message
	case errors.As(err, &ofPq):
		return string(ofPq.Code) + " " + ofPq.Message
	}
	return err.Error()
}

// step runs work and prints what it gives or how it fails.
func step(name string, work func() (any, error)) {
	result, err := work()
	if err != nil {
		fmt.Println(name, "FAILED", text(err))
		return
	}
	shown, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	fmt.Println(name, string(shown))
}

// must is for what never fails.
func must(err error) {
	if err != nil {
		fmt.Println(text(err))
		os.Exit(1)
	}
}
