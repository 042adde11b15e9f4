import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertConfigUpdate } from '#proto/alerting.ts'
import { createClock } from '#shared/time/clock.ts'
import { type Dispatchers, startDispatchers } from '../testing/alerts/dispatchers.ts'
import { type DispatcherBackends, openDispatcherBackends } from '../testing/alerts/dispatcher-backends.ts'
import type { FakeMonitoredHosts } from '../testing/alerts/fake-monitored-hosts.ts'

let ground: DispatcherBackends
beforeAll(async () => {
  ground = await openDispatcherBackends('memory')
})
afterAll(() => ground[Symbol.asyncDispose]())

/** Starts a dispatcher with a state database and two hosts. */
const open = async () => {
  const watched: FakeMonitoredHosts = { names: ['one', 'two'], values: {} }
  const clock = { ms: Date.UTC(2026, 0, 5, 12) }
  const dispatchers = await startDispatchers({
    place: await ground.next(),
    clock: createClock(() => clock.ms),
    env: { HEALTH_ALERT_ENABLED: 'true', SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere' },
    watched,
  })
  return { watched, dispatchers, [Symbol.asyncDispose]: () => dispatchers[Symbol.asyncDispose]() }
}

const clientOf = ({ alerts, call }: Dispatchers) => ({
  sweep: () => alerts.sweep({}, call()),
  state: async () => (await alerts.alertState({}, call())).hosts,
  checks: (hostKey: string) => alerts.alertChecks({ hostKey }, call()),
  policy: () => alerts.alertPolicy({}, call()),
  history: () => alerts.alertHistory({ limit: 10 }, call()),
  update: (change: AlertConfigUpdate, mustBe: 'new' | 'known' | null = null) =>
    alerts.updateAlertConfig({ update: change, mustBe }, call()),
})

const sqlRule = (more: Partial<Extract<AlertConfigUpdate, { kind: 'sql-rule' }>['value']> = {}) => ({
  kind: 'sql-rule' as const,
  value: {
    id: 'sql:late',
    name: 'Late orders',
    sql: 'SELECT count() FROM shop.late',
    unit: 'rows' as const,
    operator: '>' as const,
    warning: 10,
    critical: 20,
    summary: 'Orders are late.',
    matchHost: '*',
    matchGroup: '*',
    enabled: true,
    ...more,
  },
})
const severities = async (client: ReturnType<typeof clientOf>) =>
  (await client.state()).map(({ hostKey, conditions }) => [
    hostKey,
    ...conditions.map(({ ruleId, phase, severity }) => `${ruleId} ${phase} ${severity}`),
  ])

describe('thresholds of hosts', () => {
  it('replace those of the rule on hosts whose name or group matches, the first entry first', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    rig.watched.groups = { one: 'cold', two: 'cold' }
    rig.watched.values = { 'one/disk': 91, 'two/disk': 91, 'two/memory': 85 }
    const hostThresholds = [
      { matchHost: 'TWO', matchGroup: '*', warning: 91, critical: null },
      { matchHost: '*', matchGroup: 'cold', critical: 95 },
    ]
    await client.update({ kind: 'rule', id: 'disk', value: { hostThresholds } })
    await client.update({
      kind: 'rule',
      id: 'memory',
      value: { hostThresholds: [{ ...hostThresholds[1], matchGroup: 'hot', warning: 85, matchHost: '*' }] },
    })
    await client.sweep()
    expect(await severities(client)).toEqual([
      ['one', 'disk firing warning'],
      ['two', 'disk firing warning', 'memory firing warning'],
    ])
    const limits = (host: string) =>
      client
        .checks(host)
        .then((checks) =>
          checks
            .filter(({ ruleId }) => ruleId !== 'host-unreachable')
            .map(({ warning, critical }) => [warning, critical]),
        )
    expect(await limits('one')).toEqual([
      [80, 95],
      [80, 90],
    ])
    expect(await limits('two')).toEqual([
      [91, null],
      [80, 90],
    ])
    await client.update({ kind: 'rule', id: 'disk', value: { warning: 70, critical: 75, hostThresholds: [] } })
    await client.sweep()
    expect((await severities(client))[0]).toEqual(['one', 'disk firing critical'])
  })
})

describe('an SQL rule', () => {
  it('fires, notifies with its summary, and recovers in sweeps', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    rig.watched.values = { 'one/sql:late': 25, 'two/sql:late': 15 }
    expect((await client.update(sqlRule(), 'new')).sqlRules).toMatchObject([{ id: 'sql:late', source: 'database' }])
    expect(await client.sweep()).toMatchObject({ checks: 8, dispatched: 2, firing: 2 })
    expect(await severities(client)).toEqual([
      ['one', 'sql:late firing critical'],
      ['two', 'sql:late firing warning'],
    ])
    const check = (await client.checks('one')).find(({ ruleId }) => ruleId === 'sql:late')
    expect(check).toMatchObject({
      status: 'critical',
      value: 25,
      isCustom: true,
      doc: 'Orders are late.',
      unit: 'rows',
    })
    rig.watched.values = { 'one/sql:late': 1, 'two/sql:late': 1 }
    await client.sweep()
    expect(await client.sweep()).toMatchObject({ recoveries: 2, firing: 0 })
    const kinds = (await client.history()).map(({ kind, ruleId }) => `${kind} ${ruleId}`)
    expect(kinds.toSorted()).toEqual(['fire sql:late', 'fire sql:late', 'recover sql:late', 'recover sql:late'])
  })

  it('is evaluated only on its hosts, and without data on others that are down', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    rig.watched.groups = { two: 'shop' }
    rig.watched.values = { 'one/sql:late': 25, 'two/sql:late': 25 }
    await client.update(sqlRule())
    await client.sweep()
    await client.update(
      sqlRule({ matchGroup: 'shop', hostThresholds: [{ matchHost: 'two', matchGroup: '*', critical: null }] }),
    )
    expect(await client.sweep()).toMatchObject({ recoveries: 1 })
    expect(await severities(client)).toEqual([['one'], ['two', 'sql:late firing warning']])
    expect((await client.checks('one')).map(({ ruleId }) => ruleId)).not.toContain('sql:late')
    rig.watched.values = { 'two/host-unreachable': 1 }
    await client.sweep()
    expect(await client.checks('two')).toContainEqual(
      expect.objectContaining({ ruleId: 'sql:late', status: 'unknown', reason: 'the host is unreachable' }),
    )
  })

  it('is tested without being stored, with the thresholds of the host', async () => {
    await using rig = await open()
    const { alerts, call } = rig.dispatchers
    rig.watched.values = { 'one/sql:test': 25 }
    const { id: _id, ...rule } = sqlRule({
      hostThresholds: [{ matchHost: 'one', matchGroup: '*', critical: 30 }],
    }).value
    const test = (hostKey: string) => alerts.testSqlRule({ hostKey, rule }, call())
    expect(await test('one')).toEqual({
      status: 'warning',
      value: 25,
      unit: 'rows',
      reason: null,
      warning: 10,
      critical: 30,
      offenders: [],
    })
    expect(await test('two')).toMatchObject({ status: 'unknown', value: null, critical: 20 })
    expect((await clientOf(rig.dispatchers).policy()).sqlRules).toEqual([])
  })
})

describe('own rules', () => {
  it.each<[string, AlertConfigUpdate, object]>([
    ['thresholds of SQL', sqlRule({ critical: 5 }), { parameter: 'warning' }],
    ['a statement', sqlRule({ sql: 'DROP TABLE a' }), { parameter: 'sql', reason: 'first-word' }],
    [
      'thresholds of a host',
      { kind: 'rule', id: 'disk', value: { hostThresholds: [{ matchHost: 'one', matchGroup: '*', warning: 99 }] } },
      { parameter: 'hostThresholds' },
    ],
  ])('are rejected for %s that is invalid', async (_what, change, details) => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await expect(client.update(change)).rejects.toMatchObject({ code: 'invalid', details })
    expect(await client.policy()).toMatchObject({ rules: [], sqlRules: [] })
  })
})
