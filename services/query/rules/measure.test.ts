import { clockOf } from '#shared/time/clock.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { host } from '../testing/chunked.ts'
import { openParts, type OpenParts } from '../testing/open-parts.ts'
import { measureAll } from './measure.ts'
import { openPlans } from './plan.ts'
import { openTroubles } from './troubles.ts'

let parts: OpenParts
beforeAll(async () => {
  parts = await openParts({ COLUMNDB_HOST: host.url.href, COLUMNDB_NAME: 'db' })
})
afterAll(() => parts[Symbol.asyncDispose]())

const capabilities = { version: '25.8.1.1', readonly: 0, tables: new Set(['metrics']), logs: new Map<string, string>() }
const wanted = Array.from({ length: 6 }, (_, index) => ({
  key: `rule/${index}`,
  requires: ['system.metrics'],
  columns: ['measured' as const],
  alone: false,
  sql: `SELECT ${index === 3 ? 'slow()' : index} AS measured`,
}))

/** A host on which whatever reads `slow()` takes so long that it is given up. */
const slowHost = (slowMs: number) => {
  let nowMs = 0
  const clock = clockOf(() => nowMs)
  const asked: number[] = []
  const ask = async ({ sql }: Statement) => {
    const rules = sql.split('\nUNION ALL\n')
    asked.push(rules.length)
    if (!sql.includes('slow()')) return { rows: rules.map((_, index) => [index, 1, null, null, null, []]) }
    nowMs += slowMs
    throw hostFailure(host, 'timeout')
  }
  const troubles = openTroubles(clock.now)
  return { asked, place: { env: {}, client: parts.client, host, troubles, planFor: openPlans(), clock, ask } }
}

describe('a rule that is too slow', () => {
  it('leaves the others known, and keeps none of them waiting the next time', async () => {
    const { asked, place } = slowHost(10_000)
    const measured = await measureAll(place, capabilities, wanted)
    expect([...measured.values()].filter(({ value }) => value === 1)).toHaveLength(5)
    expect(measured.get('rule/3')).toMatchObject({ value: null, reason: 'host db did not answer in time' })
    expect(asked.splice(0)).toEqual([6, 1, 1, 1, 1, 1, 1])
    await measureAll(place, capabilities, wanted)
    expect(asked).toEqual([1, 5])
  })

  it('on a host that is slow in all is the last that is asked in this sweep', async () => {
    const { asked, place } = slowHost(25_000)
    const measured = await measureAll(place, capabilities, wanted)
    expect(asked).toEqual([6])
    const reasons = new Set([...measured.values()].map(({ reason }) => reason))
    expect([...reasons]).toEqual(['host db was too slow for this sweep'])
  })
})

it.each([
  [{}, 'normalizeQuery(query)'],
  [{ HEALTH_ALERT_STATEMENT_VALUES: 'true' }, 'replaceRegexpAll(query'],
])('tells statements as patterns unless their values are allowed: %j', async (env, told) => {
  const { place } = slowHost(0)
  const sent: string[] = []
  const ask = async ({ sql }: Statement) => {
    sent.push(sql)
    return { rows: [] }
  }
  const sql = 'SELECT 1 AS measured, [$statement(query)] AS offenders'
  const rule = {
    key: 'rule/told',
    requires: [],
    columns: ['measured' as const, 'offenders' as const],
    alone: false,
    sql,
  }
  await measureAll({ ...place, env, ask }, capabilities, [rule])
  expect(sent.join('\n')).toContain(told)
})
