// postgres.js: tagged templates, cursors, pipelines, COPY; it asks for array types on connect.

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { refused, step, url } from './steps.mjs'

// docs: connect
const sql = postgres(url, { max: 2, onnotice: () => {} })
await sql`INSERT INTO payment ${sql([
  { id: 1, account: 'ada', amount: 10.5 },
  { id: 2, account: 'bob', amount: 3 },
])}`
const rows = await sql`SELECT * FROM balance ORDER BY account`
// docs: end
await step('view', () => rows)

await step('values', async () => [
  ...await sql`SELECT ${1}::int AS i, ${'5000000000'}::bigint AS b, ${'1.50'}::numeric(8,2) AS n,
    ${1.5}::float8 AS f, ${"it's"}::text AS t, ${true}::boolean AS o,
    ${new Date(0)}::timestamptz AS z,
    ${sql.json({ a: [1, null] })}::jsonb AS j, ${[1, 2]}::int[] AS a, ${['a', 'b,c']}::text[] AS ta,
    ${Buffer.from([0, 255])}::bytea AS y, ${null}::text AS none`,
])

await step('columns', async () => {
  const { columns, statement } = await sql`SELECT id, amount, account FROM payment`
  return [columns.map((c) => [c.name, c.type]), statement.types]
})

await step('conditions', async () => [
  await sql`SELECT id FROM payment WHERE id IN ${sql([1, 2])} ORDER BY id`,
  await sql`SELECT id FROM payment WHERE id = ANY(${[1, 2]}) ORDER BY id`,
  await sql`SELECT ${sql('id')} FROM ${sql('payment')} WHERE account = ${'ada'} LIMIT ${1}`,
  await sql`UPDATE payment SET ${sql({ amount: 4 })} WHERE id = ${2} RETURNING *`,
])

await step('pipelined', async () =>
  Promise.all([1, 2, 3, 4].map((n) => sql`SELECT ${n}::int AS n`)))

await step('cursor', async () => {
  let total = 0
  for await (const part of sql`SELECT n FROM generate_series(1, 10) s(n)`.cursor(4)) {
    total += part.length
  }
  const stopped = []
  await sql`SELECT generate_series(1, 100) AS n`.cursor(2, (part) => {
    stopped.push(...part)
    return sql.CLOSE
  })
  let each = 0
  await sql`SELECT generate_series(1, 100) AS n`.forEach(() => each++)
  return [total, stopped, each]
})

await step('transactions', async () => {
  const failed = await refused(sql.begin(async (sql) => {
    await sql`INSERT INTO payment VALUES (20, 'tim', 1)`
    await sql`SELECT 1/${0}::int`
  }))
  const nested = await sql.begin(async (sql) => {
    const inner = await refused(sql.savepoint((sql) => sql`SELECT 1/0`))
    const [{ n }] = await sql`SELECT count(*)::int AS n FROM payment WHERE id = 20`
    return [inner, n]
  })
  return [failed, nested]
})

await step('copy', async () => {
  await sql`CREATE TABLE copied (id int, s text)`
  const into = await sql`COPY copied FROM STDIN`.writable()
  await pipeline(Readable.from(['1\ta\n', '2\t\\N\n']), into)
  let said = ''
  const out = await sql`COPY (SELECT * FROM copied ORDER BY id) TO STDOUT`.readable()
  for await (const chunk of out) said += chunk
  return said
})

await step('raw', async () => [
  await sql`SELECT id, account FROM payment ORDER BY id`.values(),
  await sql.unsafe('SELECT 1 AS a; SELECT 2 AS b'),
  await sql`SELECT id, amount FROM payment WHERE id = 1`.describe().then((d) => d.types),
])

await step('errors', async () => [
  await refused(sql`SELECT * FROM nosuch`),
  await refused(sql`SELEC 1`),
  await refused(sql`INSERT INTO payment VALUES (1, 'x', 1)`),
])

await step('cancel', async () => {
  const query = sql`SELECT pg_sleep(10)`
  setTimeout(() => query.cancel(), 200)
  return refused(query)
})

await sql.end()
