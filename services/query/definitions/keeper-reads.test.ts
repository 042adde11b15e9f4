import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { openDefinitions } from './definitions.ts'
import { readsKeeper } from './check.ts'

const { charts, tables } = await openDefinitions(pino({ level: 'silent' }))
const textOf = (sql: unknown): string => JSON.stringify(sql)

describe('statements that read from Keeper', () => {
  it('is detected for every page and chart that reads from Keeper', () => {
    const waiting = [...charts, ...tables].filter(({ sql }) => readsKeeper(textOf(sql)))
    expect(waiting.map(({ name }) => name).toSorted()).toEqual([
      'distributed-ddl-queue',
      'health-readonly-replicas-detail',
      'keeper-connections',
      'keeper-info',
      'keeper-info-summary',
      'keeper-overview',
      'keeper-presence',
      'keeper-watches',
      'readonly-tables',
      'replicas',
      'zookeeper',
    ])
  })

  it.each([
    ["SELECT name FROM system.zookeeper WHERE path = '/'", true],
    ['SELECT * FROM system.zookeeper_connection', true],
    ['SELECT max(total_replicas - active_replicas) FROM system.replicas', true],
    ['SELECT max(absolute_delay) FROM system.replicas', false],
    ['SELECT count() FROM system.zookeeper_log', false],
    ['SELECT count() FROM system.zookeeper_connection_log', false],
    ['SELECT log_max_index FROM shop.progress', false],
  ])('%s: %s', (sql, waits) => {
    expect(readsKeeper(sql)).toBe(waits)
  })
})
