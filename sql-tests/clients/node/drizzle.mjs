// Drizzle over node-postgres and postgres.js.

import { count, desc, eq, inArray, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js'
import { bigint, integer, jsonb, numeric, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import pg from 'pg'
import postgres from 'postgres'
import { refused, step, url } from './steps.mjs'

// docs: connect
const payment = pgTable('payment', {
  id: bigint('id', { mode: 'number' }).primaryKey(),
  account: text('account'),
  amount: numeric('amount', { precision: 12, scale: 2 }),
})
const pool = new pg.Pool({ connectionString: url })
const db = drizzle(pool)
await db.insert(payment).values([
  { id: 1, account: 'ada', amount: '10.50' },
  { id: 2, account: 'bob', amount: '3' },
])
// docs: end

const event = pgTable('event', {
  id: integer('id').primaryKey(),
  at: timestamp('at', { withTimezone: true }),
  about: jsonb('about'),
  tags: text('tags').array(),
})

async function check(name, db) {
  await step(`${name} queries`, async () => [
    await db.select().from(payment).where(inArray(payment.id, [1, 2])).orderBy(desc(payment.id)),
    await db.select({ n: count() }).from(payment).where(eq(payment.account, 'ada')),
    (await db.execute(sql`SELECT ${1}::int AS one`)).rows ?? 'rows',
    await db.update(payment).set({ amount: '4' }).where(eq(payment.id, 2)).returning(),
  ])
  await step(`${name} events`, async () => {
    await db.execute(sql`DROP TABLE IF EXISTS event`)
    await db.execute(sql`CREATE TABLE event
      (id int PRIMARY KEY, at timestamptz, about jsonb, tags text[])`)
    await db.insert(event).values({ id: 1, at: new Date(0), about: { k: [1] }, tags: ['a', 'b,c'] })
    await db.insert(event).values({ id: 1 }).onConflictDoNothing()
    await db.insert(event).values({ id: 1, about: { k: 2 } })
      .onConflictDoUpdate({ target: event.id, set: { about: sql`excluded.about` } })
    return db.select().from(event)
  })
  await step(`${name} transaction`, async () => [
    await refused(db.transaction(async (tx) => {
      await tx.insert(payment).values({ id: 20, account: 'tim', amount: '1' })
      await tx.execute(sql`SELECT 1/0`)
    })),
    await db.$count(payment, eq(payment.id, 20)),
  ])
}

await check('pg', db)
await pool.end()
const client = postgres(url, { onnotice: () => {} })
await check('postgres', drizzlePostgres(client))
await client.end()
