import { describe, expect, it } from 'vitest'
import { compareSchemas } from './compare-objects.ts'
import { mergeGroup } from './merge-group.ts'
import { parseSchema } from './read-schema.ts'

const schemaOf = (tables: Record<string, string>, databases: Record<string, string> = { shop: 'Atomic' }) =>
  parseSchema({ databases: new Map(Object.entries(databases)), tables: new Map(Object.entries(tables)) }, undefined)
const orders = (columns: string, rest = 'ORDER BY id SETTINGS index_granularity = 8192') =>
  schemaOf({ 'shop.orders': `CREATE TABLE shop.orders (\`id\` UInt64, ${columns}) ENGINE = MergeTree ${rest}` })
const statementsOf = (base: ReturnType<typeof orders>, target: ReturnType<typeof orders>) =>
  compareSchemas(base, target).statements.map(({ sql, risk }) => [
    sql.replace('ALTER TABLE `shop`.`orders` ', ''),
    risk,
  ])

describe('a schema diff', () => {
  it('of equal definitions is empty, regardless of spaces, quotes, Keeper paths and unique identifiers', () => {
    const one = schemaOf({
      'shop.a':
        "CREATE TABLE shop.a (`id` UInt64) ENGINE = ReplicatedMergeTree('/x/4b1c1f6e-1111-4f6e-9c1a-0123456789ab/1', 'r1') ORDER BY (id)",
    })
    const other = schemaOf({
      'shop.a':
        "CREATE TABLE shop.a (`id`  UInt64) ENGINE = ReplicatedMergeTree('/y/{uuid}/{shard}', '{replica}') ORDER BY (`id`)",
    })
    expect(compareSchemas(one, other)).toEqual({ differences: [], statements: [] })
  })

  it('has the risk of every statement', () => {
    const base = orders("`price` Float32, `note` String COMMENT 'a, b', `old` Date")
    const target = orders(
      "`price` Float64, `note` String COMMENT 'a, b', `day` DateTime DEFAULT now()",
      'ORDER BY id TTL day + toIntervalDay(30) SETTINGS index_granularity = 8192',
    )
    expect(statementsOf(base, target)).toEqual([
      ['DROP COLUMN `old`', 'data-loss'],
      ['ADD COLUMN `day` DateTime DEFAULT now() AFTER `note`', 'safe'],
      ['MODIFY COLUMN `price` Float64', 'rewrite'],
      ['MODIFY TTL day + toIntervalDay(30)', 'data-loss'],
    ])
  })

  it('copies the rows if ALTER cannot change a table, and names the reason', () => {
    const { statements } = compareSchemas(orders('`a` UInt8'), orders('`a` UInt8', 'ORDER BY (a, id)'))
    expect(statements[0]?.note).toContain('ALTER cannot change the primary key')
    expect(statements.map(({ sql, risk }) => [sql.slice(0, 12), risk])).toEqual([
      ['CREATE TABLE', 'safe'],
      ['INSERT INTO ', 'rewrite'],
      ['EXCHANGE TAB', 'safe'],
      ['DROP TABLE `', 'data-loss'],
    ])
  })

  it('requires a person where secrets are masked or a definition cannot be parsed', () => {
    const none = schemaOf({})
    const url = schemaOf({
      'shop.u': "CREATE TABLE shop.u (`id` UInt64) ENGINE = MySQL('h', 'd', 't', 'u', '[HIDDEN]')",
    })
    expect(compareSchemas(none, url).statements).toMatchObject([
      { risk: 'manual', note: 'replace [HIDDEN] by the secret' },
    ])
    expect(compareSchemas(none, schemaOf({ 'shop.x': "ATTACH 'unclosed" })).statements).toMatchObject([
      { risk: 'manual' },
    ])
  })
})

describe('the schema of a group', () => {
  const hostOf = (name: string, tables: Record<string, string>) => ({
    name,
    texts: { databases: new Map([['shop', 'Atomic']]), tables: new Map(Object.entries(tables)) },
  })

  it('is the definition of most hosts, and notes the others', () => {
    const { texts, notes } = mergeGroup([
      hostOf('one', { 'shop.a': 'x' }),
      hostOf('two', { 'shop.a': 'y', 'shop.b': 'z' }),
      hostOf('three', { 'shop.a': 'y' }),
    ])
    expect([...texts.tables]).toEqual([['shop.a', 'y']])
    expect(notes).toEqual([
      'shop.a differs within the group: compared without one',
      'shop.b differs within the group: compared without two',
    ])
  })
})
