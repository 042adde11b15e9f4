import { clockOf } from '#shared/time/clock.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Settling } from '#proto/alerting.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import { type Dispatchers, startDispatchers } from '../testing/alerts/dispatchers.ts'
import { type Ground, openGround } from '../testing/alerts/ground.ts'
import type { WatchedHosts } from '../testing/alerts/watched-hosts.ts'

const metrics = [
  { id: 'running-queries', title: 'Running queries', doc: '', category: 'queries', unit: 'count' as const },
]

let ground: Ground
beforeAll(async () => {
  ground = await openGround('memory')
})
afterAll(() => ground[Symbol.asyncDispose]())

/** One dispatcher that watches two hosts, with a state database unless it is taken away. */
const open = async ({ env = {} }: { env?: Record<string, string> } = {}) => {
  const watched: WatchedHosts = { names: ['one', 'two'], values: { 'one/disk': 85, 'two/memory': 95 }, metrics }
  const clock = { ms: Date.UTC(2026, 0, 5, 12) }
  const dispatchers = await startDispatchers({
    place: await ground.next(),
    clock: clockOf(() => clock.ms),
    env: { HEALTH_ALERT_ENABLED: 'true', SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere', ...env },
    watched,
  })
  return { watched, clock, dispatchers, [Symbol.asyncDispose]: () => dispatchers[Symbol.asyncDispose]() }
}
const withoutDatabase = { env: { SVC_STATE_DB_URL: '' } }

const ask = ({ alerts, call }: Dispatchers) => ({
  sweep: () => alerts.sweep({}, call()),
  state: async (hostKey?: string) => (await alerts.alertState({ hostKey }, call())).hosts,
  checks: (hostKey: string) => alerts.alertChecks({ hostKey }, call()),
  policy: () => alerts.alertPolicy({}, call()),
  history: () => alerts.alertHistory({ limit: 10 }, call()),
  silences: () => alerts.silences({}, call()),
  silence: (said: Partial<Parameters<typeof alerts.silence>[0]>) =>
    alerts.silence({ kind: 'ack', hostKey: 'one', ruleId: 'disk', minutes: null, note: '', ...said }, call()),
  unsilence: (kind: 'ack' | 'dismissal') => alerts.unsilence({ kind, hostKey: 'one', ruleId: 'disk' }, call()),
  settle: (settling: Settling, mustBe: 'new' | 'known' | null = null) => alerts.settle({ settling, mustBe }, call()),
  unsettle: (settled: Parameters<typeof alerts.unsettle>[0]['settled']) => alerts.unsettle({ settled }, call()),
  test: (warning: number, metric = 'running-queries') =>
    alerts.testCustomRule(
      { hostKey: 'one', rule: { name: 'test', metric, operator: '>=', warning, critical: 20, enabled: true } },
      call(),
    ),
})
const conditionOf = async (asked: ReturnType<typeof ask>) => (await asked.state('one'))[0]?.conditions[0]

describe('what is wrong', () => {
  it('is told of all hosts or of one', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    expect(await asked.state()).toEqual([])
    await asked.sweep()
    expect((await asked.state()).map(({ hostKey, firing }) => [hostKey, firing])).toEqual([
      ['one', 1],
      ['two', 1],
    ])
    const { hosts } = await rig.dispatchers.alerts.alertState({ figuresOnly: true }, rig.dispatchers.call())
    const sinceMs = rig.clock.ms
    expect(hosts).toMatchObject([
      { hostKey: 'one', worst: 'warning', worstTitle: 'disk', worstSinceMs: sinceMs, conditions: [] },
      { hostKey: 'two', worst: 'critical', worstTitle: 'memory', worstSinceMs: sinceMs, conditions: [] },
    ])
    expect(await asked.state('one')).toMatchObject([
      {
        hostKey: 'one',
        conditions: [{ ruleId: 'disk', severity: 'warning', phase: 'firing', toldAtMs: rig.clock.ms }],
      },
    ])
    expect(await asked.state('three')).toEqual([
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

  it('is told rule by rule, with thresholds as they are settled, also of rules that are off', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.settle({ kind: 'rule', id: 'memory', value: { enabled: false } })
    await asked.settle({ kind: 'rule', id: 'disk', value: { warning: 70 } })
    await asked.sweep()
    const checks = (await asked.checks('one')).map(({ ruleId, status, value, warning }) => [
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

  it('is history afterwards', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    expect(
      (await asked.history()).map(({ kind, ruleId, hostKey }) => `${kind} ${ruleId} ${hostKey}`).toSorted(),
    ).toEqual(['fire disk one', 'fire memory two'])
  })
})

describe('an acknowledgement', () => {
  it('is in the condition at once, and after the sweep that brings store and database to one account', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    const said = await asked.silence({ minutes: 15, note: 'on it' })
    const untilMs = rig.clock.ms + 15 * 60_000
    expect(said).toMatchObject({ kind: 'ack', by: 'gateway', note: 'on it', untilMs })
    expect(await conditionOf(asked)).toMatchObject({ acknowledged: { untilMs } })
    await asked.sweep()
    expect(await conditionOf(asked)).toMatchObject({ acknowledged: { untilMs } })
    expect(await asked.silences()).toEqual([said])
    rig.clock.ms = untilMs
    expect(await asked.silences()).toEqual([])
  })

  it('is taken back', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    await asked.silence({})
    expect(await asked.unsilence('ack')).toMatchObject({ kind: 'ack', ruleId: 'disk' })
    expect(await conditionOf(asked)).toMatchObject({ acknowledged: null })
    await asked.sweep()
    expect(await conditionOf(asked)).toMatchObject({ acknowledged: null })
    await expect(asked.unsilence('ack')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('is of one episode: it ends with it, and an old one is refused', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    const { episode } = await asked.silence({})
    rig.watched.values = {}
    await asked.sweep()
    await asked.sweep()
    expect(await asked.silences()).toEqual([])
    rig.watched.values = { 'one/disk': 85 }
    await asked.sweep()
    expect(await conditionOf(asked)).toMatchObject({ acknowledged: null })
    await expect(asked.silence({ episode })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('needs a condition, and names those there are', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    await expect(asked.silence({ ruleId: 'disc' })).rejects.toMatchObject({
      code: 'not-found',
      message: 'no such condition that is not ok: disc; did you mean disk?',
      details: { parameter: 'ruleId', nearest: ['disk'] },
    })
  })

  it.each(['constructor', '__proto__', 'toString'])('takes %s for no condition', async (ruleId) => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    await expect(asked.silence({ ruleId })).rejects.toMatchObject({ code: 'not-found', details: { nearest: ['disk'] } })
  })
})

describe('without a state database', () => {
  it('acknowledging and settling is refused, while a dismissal holds in memory', async () => {
    await using rig = await open(withoutDatabase)
    const asked = ask(rig.dispatchers)
    await asked.sweep()
    const refusal = { code: 'not-implemented', message: expect.stringContaining('SVC_STATE_DB_URL') }
    await expect(asked.silence({})).rejects.toMatchObject(refusal)
    await expect(asked.unsilence('ack')).rejects.toMatchObject(refusal)
    await expect(asked.settle({ kind: 'general', value: { enabled: true } })).rejects.toMatchObject(refusal)
    await expect(asked.unsettle({ kind: 'general' })).rejects.toMatchObject(refusal)
    await asked.silence({ kind: 'dismissal' })
    await asked.sweep()
    expect(await conditionOf(asked)).toMatchObject({ dismissed: { untilMs: null } })
    expect(await asked.silences()).toMatchObject([{ kind: 'dismissal' }])
    expect(await asked.policy()).toMatchObject({ lasting: false })
  })
})

describe('what is older than its stated age', () => {
  it('is forgotten, while a condition that goes on keeps its episode and what was said to it', async () => {
    // Reminders would write history while the days pass.
    await using rig = await open({ env: { SVC_ALERT_HISTORY_DAYS: '10', HEALTH_ALERT_COOLDOWN_MINUTES: '0' } })
    const asked = ask(rig.dispatchers)
    const { alerts, call } = rig.dispatchers
    const dayMs = 86_400_000
    const prune = async () => (await alerts.prune({}, call())).removed
    await asked.sweep()
    await asked.silence({})
    rig.watched.values = { 'one/disk': 85 }
    await asked.sweep()
    await asked.sweep()
    rig.clock.ms += 10 * dayMs
    expect(await prune()).toMatchObject({ history: 0, episodes: 0, silences: 0 })
    rig.clock.ms += 1
    // One fired, another fired and recovered.
    expect(await prune()).toMatchObject({ history: 3, episodes: 1, silences: 0 })
    expect(await asked.history()).toEqual([])
    expect(await asked.silences()).toMatchObject([{ kind: 'ack', ruleId: 'disk' }])
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
const custom = (more: Partial<Extract<Settling, { kind: 'custom-rule' }>['value']> = {}) => ({
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

describe('a route that leads to nobody', () => {
  it('is warned of once from the start on, and says why where routes are told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watchhouse-routes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const routes = ['{ id: a, target: pagr }', '{ id: b, target: sms }', '{ id: c, target: webhook }']
    await writeFile(join(folder, 'routing.yaml'), `routes: [${routes.join(', ')}]`)
    const env = { SVC_HEALTH_CONFIG_DIRECTORY: folder, HEALTH_ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/' }
    await using rig = await open({ env })
    const warnings = () => rig.dispatchers.logged().match(/"route leads to nobody/g)?.length
    expect(warnings()).toBe(2)
    await ask(rig.dispatchers).sweep()
    expect(warnings()).toBe(2)
    expect((await ask(rig.dispatchers).policy()).routes.map(({ id, problem }) => [id, problem])).toEqual([
      ['a', expect.stringContaining('is no channel or webhook target; nearest are ')],
      ['b', 'its target is switched off or lacks what it needs'],
      ['c', null],
    ])
  })
})

describe('what operators settle', () => {
  it('holds at once, says where it comes from, and gives way when it is taken back', async () => {
    await using rig = await open({ env: { HEALTH_ALERT_COOLDOWN_MINUTES: '30' } })
    const asked = ask(rig.dispatchers)
    const settled = await asked.settle({ kind: 'general', value: { cooldownMinutes: 5 } })
    expect(settled.general).toMatchObject({
      cooldownMinutes: { value: 5, source: 'database' },
      minSeverity: { value: 'warning', source: 'default' },
    })
    const { general } = await asked.unsettle({ kind: 'general' })
    expect(general.cooldownMinutes).toEqual({ value: 30, source: 'environment' })
    expect(await asked.unsettle({ kind: 'general' })).toMatchObject({ general })
  })

  it('decides the next sweep', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await asked.settle({ kind: 'rule', id: 'disk', value: { enabled: false } })
    await asked.settle(custom())
    rig.watched.values['one/running-queries'] = 15
    await asked.sweep()
    const { hosts } = await rig.dispatchers.alerts.alertState({ figuresOnly: true }, rig.dispatchers.call())
    expect(hosts.map(({ hostKey, worst, conditions }) => [hostKey, worst, conditions])).toEqual([
      ['one', 'warning', []],
      ['two', 'critical', []],
    ])
    expect(await asked.state('one')).toMatchObject([{ conditions: [{ ruleId: 'custom:many', severity: 'warning' }] }])
  })

  it('must be new where it is added, and known where it is replaced or removed', async () => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    expect((await asked.settle(route('a'), 'new')).routes).toMatchObject([{ id: 'a', source: 'database' }])
    await expect(asked.settle(route('a'), 'new')).rejects.toMatchObject({ code: 'conflict' })
    await expect(asked.settle(route('b'), 'known')).rejects.toMatchObject({ code: 'not-found' })
    expect((await asked.unsettle({ kind: 'route', id: 'a' })).routes).toEqual([])
    await expect(asked.unsettle({ kind: 'route', id: 'a' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('cannot be taken back where a variable says it', async () => {
    await using rig = await open({ env: { HEALTH_THRESHOLD_DISK_WARNING: '70' } })
    await expect(ask(rig.dispatchers).unsettle({ kind: 'rule', id: 'disk' })).rejects.toMatchObject({
      code: 'conflict',
      details: { parameter: 'checkId' },
    })
  })

  it.each<[string, Settling, string, object]>([
    ['a rule', { kind: 'rule', id: 'dsk', value: {} }, 'not-found', { parameter: 'checkId' }],
    ['a channel', { kind: 'channel', id: 'webhok', value: {} }, 'not-found', { parameter: 'channel' }],
    ['a target', route('a', 'webhok'), 'not-found', { parameter: 'target' }],
    ['a metric', custom({ metric: 'runing-queries' }), 'not-found', { nearest: ['running-queries'] }],
    ['thresholds', custom({ critical: 5 }), 'invalid', { parameter: 'warning' }],
    ['a warning', { kind: 'rule', id: 'disk', value: { warning: 95 } }, 'invalid', { parameter: 'warning' }],
    ['a critical', { kind: 'rule', id: 'disk', value: { critical: 70 } }, 'invalid', { parameter: 'critical' }],
  ])('is refused for %s that cannot be meant', async (_what, settling, code, details) => {
    await using rig = await open()
    const asked = ask(rig.dispatchers)
    await expect(asked.settle(settling)).rejects.toMatchObject({ code, details })
    expect(await asked.policy()).toMatchObject({ rules: [], routes: [], customRules: [] })
  })
})

describe('secrets of channels', () => {
  const withKey = { env: { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that nobody guesses' } }
  const settings = { url: 'https://93.184.216.34/services/a-secret-of-ours' }

  it('come encrypted, and are kept as if they had been named in clear', async () => {
    await using rig = await open(withKey)
    const { alerts, call } = rig.dispatchers
    const encrypted = await encryptFor(await alerts.alertSecretsKey({}, call()), { settings })
    const settling = { kind: 'channel', id: 'webhook', value: {} } as const
    const { channels } = await alerts.settle({ settling, encrypted }, call())
    const saved = channels.find(({ channel }) => channel === 'webhook')?.settings
    expect(saved?.find(({ field }) => field === 'url')).toMatchObject({ value: '••••ours', source: 'database' })
  })

  it('are refused when they are for nobody here', async () => {
    await using rig = await open(withKey)
    const { alerts, call } = rig.dispatchers
    const settling = { kind: 'channel', id: 'webhook', value: {} } as const
    const refused = { code: 'invalid', message: expect.stringContaining('try again') }
    await expect(alerts.settle({ settling, encrypted: 'x.y.z' }, call())).rejects.toMatchObject(refused)
  })
})

describe('a rule that is tried', () => {
  it.each([
    [9, 10, 'ok'],
    [10, 10, 'warning'],
    [20, 10, 'critical'],
    [null, 10, 'unknown'],
  ] as const)('at %s with a warning from %s is %s', async (value, warning, status) => {
    await using rig = await open()
    rig.watched.values['one/running-queries'] = value
    expect(await ask(rig.dispatchers).test(warning)).toMatchObject({ status, value, unit: 'count' })
    expect(await ask(rig.dispatchers).policy()).toMatchObject({ customRules: [] })
  })

  it('must be on a metric there is', async () => {
    await using rig = await open()
    await expect(ask(rig.dispatchers).test(10, 'queries')).rejects.toMatchObject({ code: 'not-found' })
  })
})
