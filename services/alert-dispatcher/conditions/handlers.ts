import type { Silence } from '#proto/alert-history.ts'
import type { AlertCondition, AlertHost, AlertCheck } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule, RuleMetric } from '#proto/rules.ts'
import { noSuch } from '#shared/text/no-such.ts'
import type { Store } from '#shared/store/store.ts'
import { type Alerting, type AlertingHandlers, requireLasting } from '../alerting.ts'
import { inLanes } from '../in-lanes.ts'
import type { Policy } from '../policy.ts'
import { requireSoundRule } from '../policy/warnings.ts'
import { type Condition, HostRecord, hostRecordKey, silenced } from './condition.ts'
import { emptyFleet, FleetRecord, fleetKey, unsweptHost } from './fleet-record.ts'
import { judge } from './judge.ts'
import { type Watched, watchedRules } from './watched.ts'

const hostsAtOnce = 16
/** More than anybody reads; keeps the answer well below what a message may have. */
const mostConditions = 1_000

/** The state of conditions as it is kept, host by host, without those that are well and of which everything is known. */
export const alertState =
  ({ store }: Alerting): AlertingHandlers['alertState'] =>
  async ({ hostKey, figuresOnly }) => {
    const fleet = (await store.get(fleetKey, FleetRecord)) ?? emptyFleet
    const summaries = hostKey === undefined ? fleet.hosts : { [hostKey]: fleet.hosts[hostKey] ?? unsweptHost }
    const conditions = new Map<string, Condition[]>()
    const isWanted = (key: string) => !figuresOnly && (summaries[key]?.conditions ?? 0) > 0
    const withConditions = Object.keys(summaries).filter(isWanted)
    let count = 0
    await inLanes(withConditions, hostsAtOnce, async (key) => {
      if (count >= mostConditions) return
      const record = await store.get(hostRecordKey(key), HostRecord)
      const all = Object.values(record?.conditions ?? {})
      conditions.set(key, all.slice(0, Math.max(0, mostConditions - count)))
      count += all.length
    })
    const hosts = Object.entries(summaries).map(
      ([key, { failed, firing, unknown, worst, worstSinceMs }]): AlertHost => ({
        hostKey: key,
        failed,
        firing,
        worst: worst?.severity ?? null,
        worstTitle: worst?.title ?? null,
        worstSinceMs,
        unknown,
        conditions: (conditions.get(key) ?? []).map(shown),
      }),
    )
    return {
      hosts,
      sweptAtMs: fleet.begunAtMs,
      isSweeping: fleet.isSweeping,
      truncated: count > mostConditions || conditions.size < withConditions.length,
    }
  }

/** A condition as it may be told. */
export const shown = (condition: Condition): AlertCondition => {
  const { ruleId, episode, title, unit, phase, severity, value, threshold, offenders } = condition
  const { sinceMs, judgedAtMs, told, held, acknowledged, dismissed } = condition
  const is = { ruleId, episode, title, unit, phase, severity, value, threshold, offenders }
  return { ...is, sinceMs, judgedAtMs, toldAtMs: told?.atMs ?? null, held, acknowledged, dismissed }
}

/** What fires on each host, as the last sweep left it; asks no host. */
export const firing = (store: Store): Pick<Handlers<typeof alerts>, 'firing' | 'worstFindings'> => {
  const hosts = async () => Object.entries((await store.get(fleetKey, FleetRecord))?.hosts ?? {})
  return {
    firing: async () =>
      (await hosts()).flatMap(([hostKey, { firing }]) => (firing > 0 ? [{ hostKey, conditions: firing }] : [])),
    worstFindings: async () =>
      (await hosts()).flatMap(([hostKey, { worst }]) => (worst ? [{ hostKey, ...worst }] : [])),
  }
}

interface Catalogue {
  rules: readonly Rule[]
  metrics: readonly RuleMetric[]
}

/** Every rule with what the last sweep made of it on one host. */
export const alertChecks =
  ({ store, query, policy: book }: Alerting): AlertingHandlers['alertChecks'] =>
  async ({ hostKey }, call) => {
    const [catalogue, policy, record] = await Promise.all([
      query.rules({}, call),
      book.current(),
      store.get(hostRecordKey(hostKey), HostRecord),
    ])
    const watched = new Set(watchedRules(catalogue, policy).map(({ id }) => id))
    return watchedRules(catalogue, allOn(catalogue, policy)).map((rule): AlertCheck => {
      const check = record?.checks[rule.id]
      const found = {
        status: check?.status ?? 'unknown',
        value: check?.value ?? null,
        reason: check ? check.reason : 'no sweep has judged it yet',
        atMs: check?.atMs ?? null,
      } as const
      const off = { status: 'off', value: null, reason: null, atMs: null } as const
      return { ...described(rule, catalogue), ...(watched.has(rule.id) ? found : off) }
    })
  }

/** As if nothing were switched off, to see the thresholds of what is. */
const allOn = ({ rules }: Catalogue, policy: Policy): Policy => {
  const ids = [...rules, ...policy.custom].map(({ id }) => id)
  return {
    ...policy,
    rules: Object.fromEntries(ids.map((id) => [id, { ...policy.rules[id], enabled: true }])),
  }
}

const described = ({ id, title, unit, metric, operator, warning, critical, runbook }: Watched, known: Catalogue) => {
  const rule = metric === null ? known.rules.find((each) => each.id === id) : undefined
  const about = rule ?? known.metrics.find((each) => each.id === metric)
  return {
    ruleId: id,
    title,
    doc: about?.doc ?? '',
    category: about?.category ?? '',
    unit,
    isCustom: metric !== null,
    warning: warning.at,
    critical: critical.at,
    below: operator === '<' || operator === '<=',
    runbook,
    diagnosed: rule?.diagnosed ?? false,
  }
}

const minuteMs = 60_000

export const silences =
  (alerting: Alerting): AlertingHandlers['silences'] =>
  () =>
    holding(alerting)

/** What has been said to conditions and whose time is not over. */
export const holding = async ({ stores, clock }: Pick<Alerting, 'stores' | 'clock'>): Promise<Silence[]> => {
  const nowMs = clock.now()
  return (await stores.silences.list()).filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
}

/** Writes it where it lasts first: the sweep brings from there what did not get into the condition. */
export const silence =
  (alerting: Alerting): AlertingHandlers['silence'] =>
  async ({ kind, hostKey, ruleId, episode, minutes, note }, { identity }) => {
    const { stores, clock } = alerting
    if (kind === 'ack') requireLasting(stores, 'acknowledging')
    const condition = await conditionOf(alerting, hostKey, ruleId)
    if (episode !== undefined && episode !== condition.episode) {
      throw new ServiceError('conflict', 'this episode is over; the condition has come back since', {
        details: { parameter: 'episode', episode: condition.episode },
      })
    }
    const of = { episode: condition.episode, hostKey, ruleId }
    const said = silenceOf({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
    await stores.silences.put(said)
    await tellCondition(alerting, said, said)
    return said
  }

interface Wanted extends Pick<Silence, 'kind' | 'note'> {
  /** Null holds until the recovery. */
  minutes: number | null
}

/** What somebody says to an episode from now on. */
export const silenceOf = (
  { kind, note, minutes }: Wanted,
  of: Pick<Silence, 'episode' | 'hostKey' | 'ruleId'>,
  { by, atMs }: Pick<Silence, 'by' | 'atMs'>,
): Silence => ({ kind, note, ...of, by, atMs, untilMs: minutes === null ? null : atMs + minutes * minuteMs })

export const unsilence =
  (alerting: Alerting): AlertingHandlers['unsilence'] =>
  async ({ kind, hostKey, ruleId }) => {
    const { stores } = alerting
    if (kind === 'ack') requireLasting(stores, 'acknowledging')
    const known = (await stores.silences.list()).filter((each) => each.kind === kind && each.hostKey === hostKey)
    const said = known.findLast((each) => each.ruleId === ruleId)
    if (!said) throw noSuch(nouns[kind], ruleId, new Set(known.map((each) => each.ruleId)), 'ruleId')
    await stores.silences.remove(kind, said.episode)
    await tellCondition(alerting, said, null)
    return said
  }

const nouns = { ack: 'acknowledgement', dismissal: 'dismissal' } as const

const conditionOf = async ({ store }: Alerting, hostKey: string, ruleId: string): Promise<Condition> => {
  const { conditions = {} } = (await store.get(hostRecordKey(hostKey), HostRecord)) ?? {}
  // A caller may name what every object has, such as `constructor`.
  const condition = Object.hasOwn(conditions, ruleId) ? conditions[ruleId] : undefined
  if (!condition) throw noSuch('condition that is not ok', ruleId, Object.keys(conditions), 'ruleId')
  return condition
}

const tellCondition = async ({ store }: Alerting, said: Silence, silence: Silence | null): Promise<void> => {
  if (said.hostKey === null) return
  await store.update(hostRecordKey(said.hostKey), HostRecord, (before) => ({
    value: before && silenced(before, said, silence),
  }))
}

/** Measures once what a rule would judge, and judges it as a sweep would. */
export const testCustomRule =
  ({ query, policy: book }: Alerting): AlertingHandlers['testCustomRule'] =>
  async ({ hostKey, rule }, call) => {
    const { metrics } = await query.rules({}, call)
    const metric = metrics.find(({ id }) => id === rule.metric)
    if (!metric)
      throw noSuch(
        'metric',
        rule.metric,
        metrics.map(({ id }) => id),
        'metric',
      )
    requireSoundRule(rule)
    const custom = [{ ...rule, id: 'custom:test', enabled: true }]
    const watched = watchedRules({ rules: [], metrics }, { ...(await book.current()), custom, rules: {} })
    const measured = await query.evaluateRules({ hostKey, rules: [], metrics: [metric.id] }, call)
    const byId = new Map(measured.metrics.map((reading) => [reading.id, reading]))
    const [verdict] = judge(
      watched,
      { readings: new Map(), metrics: byId, uptimeSeconds: measured.uptimeSeconds },
      undefined,
    )
    const { status = 'unknown', value = null, reason = null } = verdict ?? {}
    return { status, value, unit: metric.unit, reason }
  }
