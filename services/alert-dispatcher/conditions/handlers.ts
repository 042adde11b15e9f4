import type { Silence } from '#proto/alert-history.ts'
import type { AlertCondition, AlertHost, AlertCheck } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule, RuleMetric } from '#proto/rules.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { Store } from '#shared/store/store.ts'
import { type AlertingDeps, type AlertingHandlers, requireStateDatabase } from '../alerting.ts'
import { runConcurrently } from '../run-concurrently.ts'
import type { Policy } from '../policy.ts'
import { type Condition, HostRecord, getHostRecordKey, setConditionSilence } from './condition.ts'
import { emptyFleetRecord, FleetRecord, fleetRecordKey, emptyHostSummary } from './fleet-record.ts'
import { findHost, type MonitoredRule, selectHostRules, selectMonitoredRules } from './monitored-rules.ts'

const hostsAtOnce = 16
/** Maximum number of conditions in a response, which keeps it below the maximum message size. */
const maxConditions = 1_000

/** Returns the handler that lists stored conditions by host. With `figuresOnly`, it returns only their counts. */
export const createAlertStateHandler =
  ({ store }: AlertingDeps): AlertingHandlers['alertState'] =>
  async ({ hostKey, figuresOnly }) => {
    const fleet = (await store.get(fleetRecordKey, FleetRecord)) ?? emptyFleetRecord
    const summaries = hostKey === undefined ? fleet.hosts : { [hostKey]: fleet.hosts[hostKey] ?? emptyHostSummary }
    const conditions = new Map<string, Condition[]>()
    const isRequested = (key: string) => !figuresOnly && (summaries[key]?.conditions ?? 0) > 0
    const withConditions = Object.keys(summaries).filter(isRequested)
    let count = 0
    await runConcurrently(withConditions, hostsAtOnce, async (key) => {
      if (count >= maxConditions) return
      const record = await store.get(getHostRecordKey(key), HostRecord)
      const all = Object.values(record?.conditions ?? {})
      conditions.set(key, all.slice(0, Math.max(0, maxConditions - count)))
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
        conditions: (conditions.get(key) ?? []).map(toAlertCondition),
      }),
    )
    return {
      hosts,
      sweptAtMs: fleet.startedAtMs,
      isSweeping: fleet.isSweeping,
      truncated: count > maxConditions || conditions.size < withConditions.length,
    }
  }

/** Returns a condition in its API form. */
export const toAlertCondition = (condition: Condition): AlertCondition => {
  const { ruleId, episode, title, unit, phase, severity, value, threshold, offenders } = condition
  const { sinceMs, evaluatedAtMs, lastNotification, held, acknowledged, dismissed } = condition
  const is = { ruleId, episode, title, unit, phase, severity, value, threshold, offenders }
  return {
    ...is,
    sinceMs,
    evaluatedAtMs,
    lastNotifiedAtMs: lastNotification?.atMs ?? null,
    held,
    acknowledged,
    dismissed,
  }
}

/** Returns the handlers for firing conditions per host. They read the record of the last sweep and query no host. */
export const createFiringHandlers = (
  store: Store,
): Pick<ServiceHandlers<typeof alerts>, 'firing' | 'worstFindings'> => {
  const hosts = async () => Object.entries((await store.get(fleetRecordKey, FleetRecord))?.hosts ?? {})
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

/** Returns the handler that lists every rule with its result from the last sweep of one host. */
export const createAlertChecksHandler =
  ({ store, query, policy: book }: AlertingDeps): AlertingHandlers['alertChecks'] =>
  async ({ hostKey }, call) => {
    const [catalogue, policy, record, hosts] = await Promise.all([
      query.rules({}, call),
      book.current(),
      store.get(getHostRecordKey(hostKey), HostRecord),
      query.hosts({}, call),
    ])
    const host = findHost(hosts, hostKey)
    const watched = new Set(selectMonitoredRules(catalogue, policy).map(({ id }) => id))
    const all = selectMonitoredRules(catalogue, enableAllRules(catalogue, policy))
    const usual = new Map(all.map((rule) => [rule.id, rule]))
    return selectHostRules(all, host).map((rule): AlertCheck => {
      const check = record?.checks[rule.id]
      const found = {
        status: check?.status ?? 'unknown',
        value: check?.value ?? null,
        reason: check ? check.reason : 'not evaluated yet: no sweep has run',
        atMs: check?.atMs ?? null,
      } as const
      const off = { status: 'off', value: null, reason: null, atMs: null } as const
      const own = describeOwnThresholds(rule, usual.get(rule.id))
      return { ...describeRule(rule, catalogue), ...own, ...(watched.has(rule.id) ? found : off) }
    })
  }

/** Returns the policy with every rule enabled, so that thresholds of disabled rules can be shown. */
const enableAllRules = ({ rules }: Catalogue, policy: Policy): Policy => {
  const ids = [...rules, ...policy.custom, ...policy.sqlRules].map(({ id }) => id)
  return {
    ...policy,
    rules: Object.fromEntries(ids.map((id) => [id, { ...policy.rules[id], enabled: true }])),
  }
}

/** Returns the thresholds on other hosts, if the host has its own. */
const describeOwnThresholds = (rule: MonitoredRule, usual: MonitoredRule | undefined): Pick<AlertCheck, 'usual'> =>
  usual === undefined || usual === rule ? {} : { usual: { warning: usual.warning.at, critical: usual.critical.at } }

const describeRule = (
  { id, title, unit, metric, sql, operator, warning, critical, runbook }: MonitoredRule,
  known: Catalogue,
) => {
  const isCustom = metric !== null || sql !== null
  const rule = isCustom ? undefined : known.rules.find((each) => each.id === id)
  const about = rule ?? known.metrics.find((each) => each.id === metric)
  return {
    ruleId: id,
    title,
    doc: about?.doc ?? runbook,
    category: about?.category ?? 'custom',
    unit,
    isCustom,
    warning: warning.at,
    critical: critical.at,
    below: operator === '<' || operator === '<=',
    runbook,
    diagnosed: rule?.diagnosed ?? false,
  }
}

const minuteMs = 60_000

export const createSilencesHandler =
  (alerting: AlertingDeps): AlertingHandlers['silences'] =>
  () =>
    listActiveSilences(alerting)

/** Returns silences that have not expired. */
export const listActiveSilences = async ({
  stores,
  clock,
}: Pick<AlertingDeps, 'stores' | 'clock'>): Promise<Silence[]> => {
  const nowMs = clock.now()
  return (await stores.silences.list()).filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
}

/**
 * Returns the handler that silences a condition. It writes the database first; if the write to the condition fails,
 * reconciliation repeats it.
 */
export const createSilenceHandler =
  (alerting: AlertingDeps): AlertingHandlers['silence'] =>
  async ({ kind, hostKey, ruleId, episode, minutes, note }, { identity }) => {
    const { stores, clock } = alerting
    if (kind === 'ack') requireStateDatabase(stores, 'acknowledging')
    const condition = await loadCondition(alerting, hostKey, ruleId)
    if (episode !== undefined && episode !== condition.episode) {
      throw new ServiceError(
        'conflict',
        'the episode has ended and the condition has fired again; acknowledge or dismiss the current episode',
        {
          details: { parameter: 'episode', episode: condition.episode },
        },
      )
    }
    const of = { episode: condition.episode, hostKey, ruleId }
    const stored = createSilence({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
    await stores.silences.put(stored)
    await applySilence(alerting, stored, stored)
    return stored
  }

interface SilenceRequest extends Pick<Silence, 'kind' | 'note'> {
  /** Null means until recovery. */
  minutes: number | null
}

/** Returns the silence that a request creates. */
export const createSilence = (
  { kind, note, minutes }: SilenceRequest,
  of: Pick<Silence, 'episode' | 'hostKey' | 'ruleId'>,
  { by, atMs }: Pick<Silence, 'by' | 'atMs'>,
): Silence => ({ kind, note, ...of, by, atMs, untilMs: minutes === null ? null : atMs + minutes * minuteMs })

export const createUnsilenceHandler =
  (alerting: AlertingDeps): AlertingHandlers['unsilence'] =>
  async ({ kind, hostKey, ruleId }) => {
    const { stores } = alerting
    if (kind === 'ack') requireStateDatabase(stores, 'acknowledging')
    const known = (await stores.silences.list()).filter((each) => each.kind === kind && each.hostKey === hostKey)
    const stored = known.findLast((each) => each.ruleId === ruleId)
    if (!stored) throw createNotFoundError(nouns[kind], ruleId, new Set(known.map((each) => each.ruleId)), 'ruleId')
    await stores.silences.remove(kind, stored.episode)
    await applySilence(alerting, stored, null)
    return stored
  }

const nouns = { ack: 'acknowledgement', dismissal: 'dismissal' } as const

const loadCondition = async ({ store }: AlertingDeps, hostKey: string, ruleId: string): Promise<Condition> => {
  const { conditions = {} } = (await store.get(getHostRecordKey(hostKey), HostRecord)) ?? {}
  // The rule id comes from the caller and may be a property of `Object.prototype`, such as `constructor`.
  const condition = Object.hasOwn(conditions, ruleId) ? conditions[ruleId] : undefined
  if (!condition) throw createNotFoundError('active condition', ruleId, Object.keys(conditions), 'ruleId')
  return condition
}

const applySilence = async ({ store }: AlertingDeps, stored: Silence, silence: Silence | null): Promise<void> => {
  if (stored.hostKey === null) return
  await store.update(getHostRecordKey(stored.hostKey), HostRecord, (before) => ({
    value: before && setConditionSilence(before, stored, silence),
  }))
}
