// TypeORM: entities, its schema builder, which reads the catalogs, and its query runner.

import 'reflect-metadata'
import { DataSource, EntitySchema, In, MoreThan } from 'typeorm'
import { refused, step, url } from './steps.mjs'

// docs: connect
const Part = new EntitySchema({
  name: 'Part',
  tableName: 'part',
  columns: {
    id: { type: 'int', primary: true },
    name: { type: 'varchar', length: 20, default: 'none' },
    price: { type: 'numeric', precision: 8, scale: 2, nullable: true },
    at: { type: 'timestamptz', nullable: true },
    about: { type: 'jsonb', nullable: true },
    tags: { type: 'text', array: true, nullable: true },
  },
  indices: [{ name: 'part_by_name', columns: ['name'] }],
})
const Ticket = new EntitySchema({
  name: 'Ticket',
  tableName: 'ticket',
  columns: {
    id: { type: 'int', primary: true, generated: true },
    turn: { type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' },
    what: { type: 'varchar' },
  },
})
const source = new DataSource({ type: 'postgres', url, entities: [Part, Ticket], synchronize: true })
await source.initialize()
// docs: end
const parts = source.getRepository('Part')

await step('save', async () => [
  await parts.save({ id: 1, name: 'nut', price: 1.5, about: { k: 1 }, tags: ['a'] }),
  await parts.save([{ id: 2, at: new Date(0) }, { id: 3, name: 'bolt', price: 2 }]),
])
await step('find', async () => [
  await parts.find({ where: { id: In([1, 2]) }, order: { id: 'DESC' } }),
  await parts.findAndCount({
    where: { price: MoreThan(1) }, order: { id: 'ASC' }, take: 1, skip: 1,
  }),
  await parts.createQueryBuilder('p')
    .select('count(*)', 'n').addSelect('max(p.price)', 'm').getRawOne(),
])
await step('change', async () => {
  await parts.update({ id: 3 }, { price: 3 })
  await parts.upsert({ id: 1, name: 'screw' }, ['id'])
  await parts.delete(2)
  return parts.find({ order: { id: 'ASC' }, select: { id: true, name: true, price: true } })
})
await step('transaction', async () => [
  await refused(source.transaction(async (manager) => {
    await manager.save('Part', { id: 9, name: 'nail' })
    await manager.query('SELECT 1/0')
  })),
  await parts.count(),
])
await step('generated', async () => {
  const tickets = source.getRepository('Ticket')
  const saved = await tickets.save([{ what: 'one' }, { what: 'two' }])
  const more = await tickets.insert({ what: 'three' })
  return [saved, more.identifiers, more.generatedMaps, await tickets.find({ order: { id: 'ASC' } })]
})
await step('again', async () => {
  const queries = []
  source.logger = { logQuery: (q) => queries.push(q), logQueryError() {}, logQuerySlow() {},
    logSchemaBuild: (m) => queries.push(m), logMigration() {}, log() {} }
  await source.synchronize()
  return queries.filter((q) => /^(CREATE|ALTER|DROP)/.test(q))
})
await step('tables', async () => {
  const runner = source.createQueryRunner()
  const table = await runner.getTable('part')
  const names = await runner.hasTable('part')
  await runner.release()
  const columns = table.columns.map((c) => [c.name, c.type, c.length, c.precision, c.scale,
    c.default, c.isNullable, c.isPrimary, c.isArray])
  return [names, columns, table.indices.map((i) => [i.name, i.columnNames])]
})
await source.destroy()
