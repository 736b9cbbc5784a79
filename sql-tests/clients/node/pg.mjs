// node-postgres: queries, parameters, prepared statements, cursors, COPY, pools.

import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import pg from 'pg'
import copy from 'pg-copy-streams'
import Cursor from 'pg-cursor'
import { refused, step, url } from './steps.mjs'

// docs: connect
const client = new pg.Client(url)
await client.connect()
await client.query("INSERT INTO payment VALUES ($1, 'ada', $2), ($3, 'bob', 3)", [1, 10.5, 2])
const { rows } = await client.query('SELECT * FROM balance ORDER BY account')
// docs: end
await step('view', () => rows)

const query = async (sql, values) => (await client.query(sql, values)).rows

await step('values', () =>
  query(
    `SELECT $1::int AS i, $2::bigint AS b, $3::numeric(8,2) AS n, $4::float8 AS f, $5::text AS t,
       $6::boolean AS o, $7::timestamptz AS z, $8::timestamp AS s, $9::date AS d, $10::jsonb AS j,
       $11::int[] AS a, $12::text[] AS ta, $13::bytea AS y, $14::uuid AS u, $15::interval AS v,
       $16::text AS none`,
    [1, '5000000000', '1.50', 1.5, "it's", true, new Date(0), '2026-02-28 12:00:00.5', '2026-02-28',
      { a: [1, null] }, [1, 2, null], ['a', 'b,c'], Buffer.from([0, 255]),
      '12345678-1234-5678-1234-567812345678', '3 days 00:00:04', null],
  ))

await step('fields', async () => {
  const { fields } = await client.query('SELECT id, amount, account FROM payment LIMIT 0')
  return fields.map((f) => [f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier])
})

await step('untyped', async () => [
  await query('SELECT id FROM payment WHERE id = $1', ['1']),
  await query('SELECT id FROM payment WHERE amount > $1 ORDER BY id LIMIT $2', [1, 1]),
  await query('SELECT id FROM payment WHERE id = ANY($1) ORDER BY id', [[1, 2]]),
  await query('SELECT $1 AS a, $2::text || $3 AS b', ['x', 'y', 'z']),
  await query('SELECT COALESCE($1, account) AS a FROM payment ORDER BY 1', [null]),
])

await step('table', async () => {
  await client.query('CREATE TABLE every (id int, at timestamptz, about jsonb, tags text[])')
  await client.query('INSERT INTO every VALUES ($1, $2, $3, $4)',
    [1, new Date('2026-02-28T12:00:00Z'), JSON.stringify({ k: 1 }), ['a', 'b']])
  const inserted = await query('INSERT INTO every (id) VALUES ($1), ($2) RETURNING *', [2, 3])
  const { rowCount, command } = await client.query('UPDATE every SET tags = $1', [['c']])
  return [inserted, rowCount, command, await query('SELECT * FROM every ORDER BY id')]
})

await step('prepared', async () => {
  const found = []
  for (const id of [1, 2, 9]) {
    const one = { name: 'by-id', text: 'SELECT amount FROM payment WHERE id = $1', values: [id] }
    found.push((await client.query(one)).rows)
  }
  return found
})

await step('arrays', async () => {
  const text = 'SELECT id, account FROM payment ORDER BY id'
  return (await client.query({ text, rowMode: 'array' })).rows
})

await step('statements', async () => {
  const results = await client.query('SELECT 1 AS a; SELECT 2 AS b; SET statement_timeout = 0')
  return results.map((r) => [r.command, r.rows])
})

await step('cursor', async () => {
  const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, $1::int) s(n)', [10]))
  const first = await cursor.read(3)
  const second = await cursor.read(100)
  await cursor.close()
  const early = client.query(new Cursor('SELECT generate_series(1, 1000) AS n'))
  await early.read(1)
  await early.close()
  return [first, second.length, await query('SELECT 1 AS still')]
})

await step('copy', async () => {
  await client.query('CREATE TABLE copied (id int, s text)')
  const into = client.query(copy.from('COPY copied FROM STDIN'))
  await pipeline(Readable.from(['1\ta\n', '2\t\\N\n']), into)
  const out = client.query(copy.to('COPY copied TO STDOUT WITH CSV HEADER'))
  let said = ''
  for await (const chunk of out) said += chunk
  const bad = client.query(copy.from('COPY copied FROM STDIN'))
  const error = await refused(pipeline(Readable.from(['x\ty\n']), bad))
  return [into.rowCount, said, error, await query('SELECT 1 AS still')]
})

await step('transaction', async () => {
  await client.query('BEGIN')
  await client.query("INSERT INTO payment VALUES (20, 'tim', 1)")
  const failed = await refused(client.query('SELECT 1/$1::int', [0]))
  const stuck = await refused(client.query('SELECT 1'))
  const { command } = await client.query('COMMIT')
  return [failed, stuck, command, await query('SELECT count(*) FROM payment WHERE id = 20')]
})

await step('errors', async () => {
  const out = []
  for (const sql of ['SELECT * FROM nosuch', 'SELEC 1', "INSERT INTO payment VALUES (1, 'x', 1)"]) {
    const error = await client.query(sql).catch((e) => e)
    out.push([error.code, error.message, error.position, error.detail, error.constraint])
  }
  return out
})

await step('pool', async () => {
  const pool = new pg.Pool({ connectionString: url, max: 3, statement_timeout: 200 })
  const all = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.query('SELECT $1::int AS n', [n])))
  const slow = await refused(pool.query('SELECT pg_sleep(5)'))
  await pool.end()
  return [all.map((r) => r.rows[0].n), slow]
})

await step('empty', async () => (await client.query('')).rows)
await client.end()
