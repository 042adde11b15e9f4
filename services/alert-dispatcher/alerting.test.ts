import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AlertConfigUpdate } from '#proto/alerting.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import { type Dispatchers, startDispatchers } from '../testing/alerts/dispatchers.ts'
import { type DispatcherBackends, openDispatcherBackends } from '../testing/alerts/dispatcher-backends.ts'
import type { FakeMonitoredHosts } from '../testing/alerts/fake-monitored-hosts.ts'

const metrics = [
  { id: 'running-queries', title: 'Running queries', doc: '', category: 'queries', unit: 'count' as const },
]

let ground: DispatcherBackends
beforeAll(async () => {
  ground = await openDispatcherBackends('memory')
})
afterAll(() => ground[Symbol.asyncDispose]())

/** Starts a dispatcher with two hosts and, by default, a state database. */
const open = async ({ env = {} }: { env?: Record<string, string> } = {}) => {
  const watched: FakeMonitoredHosts = { names: ['one', 'two'], values: { 'one/disk': 85, 'two/memory': 95 }, metrics }
  const clock = { ms: Date.UTC(2026, 0, 5, 12) }
  const dispatchers = await startDispatchers({
    place: await ground.next(),
    clock: createClock(() => clock.ms),
    env: { HEALTH_ALERT_ENABLED: 'true', SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere', ...env },
    watched,
  })
  return { watched, clock, dispatchers, [Symbol.asyncDispose]: () => dispatchers[Symbol.asyncDispose]() }
}
const withoutDatabase = { env: { SVC_STATE_DB_URL: '' } }

const clientOf = ({ alerts, call }: Dispatchers) => ({
  sweep: () => alerts.sweep({}, call()),
  state: async (hostKey?: string) => (await alerts.alertState({ hostKey }, call())).hosts,
  checks: (hostKey: string) => alerts.alertChecks({ hostKey }, call()),
  policy: () => alerts.alertPolicy({}, call()),
  history: () => alerts.alertHistory({ limit: 10 }, call()),
  silences: () => alerts.silences({}, call()),
  silence: (said: Partial<Parameters<typeof alerts.silence>[0]>) =>
    alerts.silence({ kind: 'ack', hostKey: 'one', ruleId: 'disk', minutes: null, note: '', ...said }, call()),
  unsilence: (kind: 'ack' | 'dismissal') => alerts.unsilence({ kind, hostKey: 'one', ruleId: 'disk' }, call()),
  update: (change: AlertConfigUpdate, mustBe: 'new' | 'known' | null = null) =>
    alerts.updateAlertConfig({ update: change, mustBe }, call()),
  remove: (key: Parameters<typeof alerts.deleteAlertConfig>[0]['key']) => alerts.deleteAlertConfig({ key }, call()),
  test: (warning: number, metric = 'running-queries') =>
    alerts.testCustomRule(
      { hostKey: 'one', rule: { name: 'test', metric, operator: '>=', warning, critical: 20, enabled: true } },
      call(),
    ),
})
const conditionOf = async (client: ReturnType<typeof clientOf>) => (await client.state('one'))[0]?.conditions[0]

describe('alert state', () => {
  it('is returned for all hosts or for one', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    expect(await client.state()).toEqual([])
    await client.sweep()
    expect((await client.state()).map(({ hostKey, firing }) => [hostKey, firing])).toEqual([
      ['one', 1],
      ['two', 1],
    ])
    const { hosts } = await rig.dispatchers.alerts.alertState({ figuresOnly: true }, rig.dispatchers.call())
    const sinceMs = rig.clock.ms
    expect(hosts).toMatchObject([
      { hostKey: 'one', worst: 'warning', worstTitle: 'disk', worstSinceMs: sinceMs, conditions: [] },
      { hostKey: 'two', worst: 'critical', worstTitle: 'memory', worstSinceMs: sinceMs, conditions: [] },
    ])
    expect(await client.state('one')).toMatchObject([
      {
        hostKey: 'one',
        conditions: [{ ruleId: 'disk', severity: 'warning', phase: 'firing', lastNotifiedAtMs: rig.clock.ms }],
      },
    ])
    expect(await client.state('three')).toEqual([
      {
        hostKey: 'three',
        failed: false,
        firing: 0,
        worst: null,
        worstTitle: null,
        worstSinceMs: null,
        unknown: 0,
        conditions: [],
      },
    ])
  })

  it('is returned per rule with effective thresholds, including disabled rules', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.update({ kind: 'rule', id: 'memory', value: { enabled: false } })
    await client.update({ kind: 'rule', id: 'disk', value: { warning: 70 } })
    await client.sweep()
    const checks = (await client.checks('one')).map(({ ruleId, status, value, warning }) => [
      ruleId,
      status,
      value,
      warning,
    ])
    expect(checks).toEqual([
      ['host-unreachable', 'ok', 0, null],
      ['disk', 'warning', 85, 70],
      ['memory', 'off', null, 80],
    ])
  })

  it('becomes history afterwards', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    expect(
      (await client.history()).map(({ kind, ruleId, hostKey }) => `${kind} ${ruleId} ${hostKey}`).toSorted(),
    ).toEqual(['fire disk one', 'fire memory two'])
  })
})

describe('an acknowledgement', () => {
  it('is in the condition at once and after reconciliation', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    const said = await client.silence({ minutes: 15, note: 'on it' })
    const untilMs = rig.clock.ms + 15 * 60_000
    expect(said).toMatchObject({ kind: 'ack', by: 'gateway', note: 'on it', untilMs })
    expect(await conditionOf(client)).toMatchObject({ acknowledged: { untilMs } })
    await client.sweep()
    expect(await conditionOf(client)).toMatchObject({ acknowledged: { untilMs } })
    expect(await client.silences()).toEqual([said])
    rig.clock.ms = untilMs
    expect(await client.silences()).toEqual([])
  })

  it('can be removed', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    await client.silence({})
    expect(await client.unsilence('ack')).toMatchObject({ kind: 'ack', ruleId: 'disk' })
    expect(await conditionOf(client)).toMatchObject({ acknowledged: null })
    await client.sweep()
    expect(await conditionOf(client)).toMatchObject({ acknowledged: null })
    await expect(client.unsilence('ack')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('ends with its episode, and one for an ended episode is rejected', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    const { episode } = await client.silence({})
    rig.watched.values = {}
    await client.sweep()
    await client.sweep()
    expect(await client.silences()).toEqual([])
    rig.watched.values = { 'one/disk': 85 }
    await client.sweep()
    expect(await conditionOf(client)).toMatchObject({ acknowledged: null })
    await expect(client.silence({ episode })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('requires an active condition and suggests existing ones', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    await expect(client.silence({ ruleId: 'disc' })).rejects.toMatchObject({
      code: 'not-found',
      message: 'unknown active condition "disc"; did you mean "disk"?',
      details: { parameter: 'ruleId', nearest: ['disk'] },
    })
  })

  it.each(['constructor', '__proto__', 'toString'])('rejects %s as a condition', async (ruleId) => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    await expect(client.silence({ ruleId })).rejects.toMatchObject({
      code: 'not-found',
      details: { nearest: ['disk'] },
    })
  })
})

describe('without a state database', () => {
  it('rejects acknowledgements and configuration changes, but keeps dismissals in memory', async () => {
    await using rig = await open(withoutDatabase)
    const client = clientOf(rig.dispatchers)
    await client.sweep()
    const refusal = { code: 'not-implemented', message: expect.stringContaining('SVC_STATE_DB_URL') }
    await expect(client.silence({})).rejects.toMatchObject(refusal)
    await expect(client.unsilence('ack')).rejects.toMatchObject(refusal)
    await expect(client.update({ kind: 'general', value: { enabled: true } })).rejects.toMatchObject(refusal)
    await expect(client.remove({ kind: 'general' })).rejects.toMatchObject(refusal)
    await client.silence({ kind: 'dismissal' })
    await client.sweep()
    expect(await conditionOf(client)).toMatchObject({ dismissed: { untilMs: null } })
    expect(await client.silences()).toMatchObject([{ kind: 'dismissal' }])
    expect(await client.policy()).toMatchObject({ persistent: false })
  })
})

describe('pruning', () => {
  it('deletes old data and keeps open episodes with their silences', async () => {
    // A cooldown of 0 disables reminders, which would add history when the clock is set forward.
    await using rig = await open({ env: { SVC_ALERT_HISTORY_DAYS: '10', HEALTH_ALERT_COOLDOWN_MINUTES: '0' } })
    const client = clientOf(rig.dispatchers)
    const { alerts, call } = rig.dispatchers
    const dayMs = 86_400_000
    const prune = async () => (await alerts.prune({}, call())).removed
    await client.sweep()
    await client.silence({})
    rig.watched.values = { 'one/disk': 85 }
    await client.sweep()
    await client.sweep()
    rig.clock.ms += 10 * dayMs
    expect(await prune()).toMatchObject({ history: 0, episodes: 0, silences: 0 })
    rig.clock.ms += 1
    // One condition is still firing, and the other has recovered.
    expect(await prune()).toMatchObject({ history: 3, episodes: 1, silences: 0 })
    expect(await client.history()).toEqual([])
    expect(await client.silences()).toMatchObject([{ kind: 'ack', ruleId: 'disk' }])
  })
})

const route = (id: string, target = 'webhook') => ({
  kind: 'route' as const,
  value: {
    id,
    target,
    matchRule: '*',
    matchHost: '*',
    matchGroup: '*',
    matchTag: '*',
    matchSeverity: '*' as const,
    last: false,
    enabled: true,
    minSeverity: null,
  },
})
const custom = (more: Partial<Extract<AlertConfigUpdate, { kind: 'custom-rule' }>['value']> = {}) => ({
  kind: 'custom-rule' as const,
  value: {
    id: 'custom:many',
    name: 'Many',
    metric: 'running-queries',
    operator: '>' as const,
    warning: 10,
    critical: 20,
    enabled: true,
    ...more,
  },
})

describe('a route without reachable targets', () => {
  it('is logged once and listed with its problem', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watchhouse-routes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const routes = ['{ id: a, target: pagr }', '{ id: b, target: sms }', '{ id: c, target: webhook }']
    await writeFile(join(folder, 'routing.yaml'), `routes: [${routes.join(', ')}]`)
    const env = { SVC_HEALTH_CONFIG_DIRECTORY: folder, HEALTH_ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/' }
    await using rig = await open({ env })
    const warnings = () => rig.dispatchers.logged().match(/"route ignored: it has no reachable target/g)?.length
    expect(warnings()).toBe(2)
    await clientOf(rig.dispatchers).sweep()
    expect(warnings()).toBe(2)
    expect((await clientOf(rig.dispatchers).policy()).routes.map(({ id, problem }) => [id, problem])).toEqual([
      ['a', expect.stringContaining('unknown channel or webhook target; nearest: ')],
      ['b', 'its target is disabled or incomplete'],
      ['c', null],
    ])
  })
})

describe('alert configuration', () => {
  it('applies at once, has a source, and is replaced by lower layers when deleted', async () => {
    await using rig = await open({ env: { HEALTH_ALERT_COOLDOWN_MINUTES: '30' } })
    const client = clientOf(rig.dispatchers)
    const updated = await client.update({ kind: 'general', value: { cooldownMinutes: 5 } })
    expect(updated.general).toMatchObject({
      cooldownMinutes: { value: 5, source: 'database' },
      minSeverity: { value: 'warning', source: 'default' },
    })
    const { general } = await client.remove({ kind: 'general' })
    expect(general.cooldownMinutes).toEqual({ value: 30, source: 'environment' })
    expect(await client.remove({ kind: 'general' })).toMatchObject({ general })
  })

  it('applies to the next sweep', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await client.update({ kind: 'rule', id: 'disk', value: { enabled: false } })
    await client.update(custom())
    rig.watched.values['one/running-queries'] = 15
    await client.sweep()
    const { hosts } = await rig.dispatchers.alerts.alertState({ figuresOnly: true }, rig.dispatchers.call())
    expect(hosts.map(({ hostKey, worst, conditions }) => [hostKey, worst, conditions])).toEqual([
      ['one', 'warning', []],
      ['two', 'critical', []],
    ])
    expect(await client.state('one')).toMatchObject([{ conditions: [{ ruleId: 'custom:many', severity: 'warning' }] }])
  })

  it('must not exist on creation and must exist on update and deletion', async () => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    expect((await client.update(route('a'), 'new')).routes).toMatchObject([{ id: 'a', source: 'database' }])
    await expect(client.update(route('a'), 'new')).rejects.toMatchObject({ code: 'conflict' })
    await expect(client.update(route('b'), 'known')).rejects.toMatchObject({ code: 'not-found' })
    expect((await client.remove({ kind: 'route', id: 'a' })).routes).toEqual([])
    await expect(client.remove({ kind: 'route', id: 'a' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('cannot be deleted if a variable sets it', async () => {
    await using rig = await open({ env: { HEALTH_THRESHOLD_DISK_WARNING: '70' } })
    await expect(clientOf(rig.dispatchers).remove({ kind: 'rule', id: 'disk' })).rejects.toMatchObject({
      code: 'conflict',
      details: { parameter: 'checkId' },
    })
  })

  it.each<[string, AlertConfigUpdate, string, object]>([
    ['a rule', { kind: 'rule', id: 'dsk', value: {} }, 'not-found', { parameter: 'checkId' }],
    ['a channel', { kind: 'channel', id: 'webhok', value: {} }, 'not-found', { parameter: 'channel' }],
    ['a target', route('a', 'webhok'), 'not-found', { parameter: 'target' }],
    ['a metric', custom({ metric: 'runing-queries' }), 'not-found', { nearest: ['running-queries'] }],
    ['thresholds', custom({ critical: 5 }), 'invalid', { parameter: 'warning' }],
    ['a warning', { kind: 'rule', id: 'disk', value: { warning: 95 } }, 'invalid', { parameter: 'warning' }],
    ['a critical', { kind: 'rule', id: 'disk', value: { critical: 70 } }, 'invalid', { parameter: 'critical' }],
  ])('is rejected for %s that is invalid', async (_what, change, code, details) => {
    await using rig = await open()
    const client = clientOf(rig.dispatchers)
    await expect(client.update(change)).rejects.toMatchObject({ code, details })
    expect(await client.policy()).toMatchObject({ rules: [], routes: [], customRules: [] })
  })
})

describe('channel secrets', () => {
  const withKey = { env: { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that is hard to guess' } }
  const settings = { url: 'https://93.184.216.34/services/a-secret-of-ours' }

  it('arrive encrypted and are stored like plain ones', async () => {
    await using rig = await open(withKey)
    const { alerts, call } = rig.dispatchers
    const encrypted = await encryptForTransit(await alerts.alertSecretsKey({}, call()), { settings })
    const change = { kind: 'channel', id: 'webhook', value: {} } as const
    const { channels } = await alerts.updateAlertConfig({ update: change, encrypted }, call())
    const saved = channels.find(({ channel }) => channel === 'webhook')?.settings
    expect(saved?.find(({ field }) => field === 'url')).toMatchObject({ value: '••••ours', source: 'database' })
  })

  it('are rejected if they were encrypted for another installation', async () => {
    await using rig = await open(withKey)
    const { alerts, call } = rig.dispatchers
    const change = { kind: 'channel', id: 'webhook', value: {} } as const
    const refused = { code: 'invalid', message: expect.stringContaining('try again') }
    await expect(alerts.updateAlertConfig({ update: change, encrypted: 'x.y.z' }, call())).rejects.toMatchObject(
      refused,
    )
  })
})

describe('testing a custom rule', () => {
  it.each([
    [9, 10, 'ok'],
    [10, 10, 'warning'],
    [20, 10, 'critical'],
    [null, 10, 'unknown'],
  ] as const)('with value %s and warning threshold %s returns %s', async (value, warning, status) => {
    await using rig = await open()
    rig.watched.values['one/running-queries'] = value
    expect(await clientOf(rig.dispatchers).test(warning)).toMatchObject({ status, value, unit: 'count' })
    expect(await clientOf(rig.dispatchers).policy()).toMatchObject({ customRules: [] })
  })

  it('requires an existing metric', async () => {
    await using rig = await open()
    await expect(clientOf(rig.dispatchers).test(10, 'queries')).rejects.toMatchObject({ code: 'not-found' })
  })
})
