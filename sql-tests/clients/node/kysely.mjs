// Kysely: queries and introspection over node-postgres.

import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import Cursor from 'pg-cursor'
import { refused, step, url } from './steps.mjs'

// docs: connect
const pool = new pg.Pool({ connectionString: url })
const db = new Kysely({ dialect: new PostgresDialect({ pool, cursor: Cursor }) })
await db.insertInto('payment')
  .values([{ id: 1, account: 'ada', amount: 10.5 }, { id: 2, account: 'bob', amount: 3 }])
  .execute()
const rows = await db.selectFrom('balance').selectAll().orderBy('account').execute()
// docs: end
await step('view', () => rows)

await step('schema', async () => {
  await db.schema.createTable('parts')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'varchar(20)', (c) => c.notNull().defaultTo('none'))
    .addColumn('at', 'timestamptz')
    .execute()
  await db.schema.createIndex('parts_name').on('parts').column('name').execute()
  return db.insertInto('parts').values({ id: 1 }).returningAll().execute()
})

await step('tables', async () => {
  const tables = await db.introspection.getTables()
  // Kysely's list has no materialized views.
  return tables
    .filter((t) => t.schema === 'public' && t.name !== 'balance')
    .map((t) => [t.name, t.columns])
})

await step('schemas', async () => {
  const schemas = await db.introspection.getSchemas()
  return schemas.map((s) => s.name).filter((name) => name === 'public')
})

await step('queries', async () => [
  await db.selectFrom('payment').leftJoin('balance', 'balance.account', 'payment.account')
    .select(['payment.id', 'balance.total']).where('payment.id', 'in', [1, 2])
    .orderBy('payment.id').limit(1).offset(1).execute(),
  await db.selectFrom('payment')
    .select(({ fn }) => [fn.countAll().as('n'), fn.max('amount').as('m')])
    .executeTakeFirstOrThrow(),
  await db.updateTable('payment').set({ amount: 4 }).where('id', '=', 2).returning('amount')
    .execute(),
  await sql`SELECT ${1}::int AS one`.execute(db).then((r) => r.rows),
])

await step('upsert', async () =>
  db.insertInto('parts').values({ id: 1, name: 'nut' })
    .onConflict((oc) => oc.column('id').doUpdateSet({ name: (eb) => eb.ref('excluded.name') }))
    .returning(['id', 'name']).execute())

await step('transaction', async () => {
  const failed = await refused(db.transaction().setIsolationLevel('repeatable read').execute(
    async (trx) => {
      await trx.insertInto('payment').values({ id: 20, account: 'tim', amount: 1 }).execute()
      await sql`SELECT 1/0`.execute(trx)
    }))
  return [failed, await db.selectFrom('payment').select('id').where('id', '=', 20).execute()]
})

await step('stream', async () => {
  const ids = []
  const payments = db.selectFrom('payment').select('id').orderBy('id')
  for await (const row of payments.stream(1)) ids.push(row.id)
  return ids
})

await db.destroy()
