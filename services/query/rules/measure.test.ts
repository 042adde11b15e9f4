import { createClock } from '#shared/time/clock.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHostError } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { testHost } from '../testing/response-bodies.ts'
import { openTestService, type TestService } from '../testing/test-service.ts'
import { measureRules } from './measure.ts'
import { openPlanner } from './plan.ts'
import { openRuleFailureRegistry } from './rule-failures.ts'

let parts: TestService
beforeAll(async () => {
  parts = await openTestService({ COLUMNDB_HOST: testHost.url.href, COLUMNDB_NAME: 'db' })
})
afterAll(() => parts[Symbol.asyncDispose]())

const capabilities = {
  version: '25.8.1.1',
  readonly: 0,
  tables: new Set(['metrics']),
  logs: new Map<string, string>(),
  missingShow: new Set<never>(),
}
const wanted = Array.from({ length: 6 }, (_, index) => ({
  key: `rule/${index}`,
  requires: ['system.metrics'],
  columns: ['measured' as const],
  alone: false,
  sql: `SELECT ${index === 3 ? 'slow()' : index} AS measured`,
}))

/** Returns a host on which statements with `slow()` time out. */
const slowHost = (slowMs: number) => {
  let nowMs = 0
  const clock = createClock(() => nowMs)
  const requests: number[] = []
  const run = async ({ sql }: Statement) => {
    const rules = sql.split('\nUNION ALL\n')
    requests.push(rules.length)
    if (!sql.includes('slow()')) return { rows: rules.map((_, index) => [index, 1, null, null, null, []]) }
    nowMs += slowMs
    throw createHostError(testHost, 'timeout')
  }
  const troubles = openRuleFailureRegistry(clock.now)
  return {
    requests,
    place: { env: {}, client: parts.client, host: testHost, troubles, planFor: openPlanner(), clock, run },
  }
}

describe('a slow rule', () => {
  it('does not affect other rules, and runs apart from them next time', async () => {
    const { requests, place } = slowHost(10_000)
    const measured = await measureRules(place, capabilities, wanted)
    expect([...measured.values()].filter(({ value }) => value === 1)).toHaveLength(5)
    expect(measured.get('rule/3')).toMatchObject({ value: null, reason: 'host db did not answer in time' })
    expect(requests.splice(0)).toEqual([6, 1, 1, 1, 1, 1, 1])
    await measureRules(place, capabilities, wanted)
    expect(requests).toEqual([1, 5])
  })

  it('is the last statement of the sweep on a slow host', async () => {
    const { requests, place } = slowHost(25_000)
    const measured = await measureRules(place, capabilities, wanted)
    expect(requests).toEqual([6])
    const reasons = new Set([...measured.values()].map(({ reason }) => reason))
    expect([...reasons]).toEqual(['host db: timeout of the sweep; the next sweep retries it'])
  })
})

it.each([
  [{}, 'normalizeQuery(query)'],
  [{ HEALTH_ALERT_STATEMENT_VALUES: 'true' }, 'replaceRegexpAll(query'],
])('returns query patterns unless values are allowed: %j', async (env, expected) => {
  const { place } = slowHost(0)
  const sent: string[] = []
  const run = async ({ sql }: Statement) => {
    sent.push(sql)
    return { rows: [] }
  }
  const sql = 'SELECT 1 AS measured, [$statement(query)] AS offenders'
  const rule = {
    key: 'rule/a',
    requires: [],
    columns: ['measured' as const, 'offenders' as const],
    alone: false,
    sql,
  }
  await measureRules({ ...place, env, run }, capabilities, [rule])
  expect(sent.join('\n')).toContain(expected)
})
