import type { AlertCondition, AlertHost } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import type { Store } from '#shared/store/store.ts'
import type { Alerting, AlertingHandlers } from '../alerting.ts'
import { inLanes } from '../in-lanes.ts'
import { type Condition, HostRecord, hostRecordKey } from './condition.ts'
import { emptyFleet, FleetRecord, fleetKey, unsweptHost } from './fleet-record.ts'

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
