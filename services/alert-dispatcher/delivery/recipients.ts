import { Severity } from '#proto/rules.ts'
import type { Target } from '../channels/targets.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { brokenRule } from './broken.ts'
import type { Delivering, ListedHosts } from './delivering.ts'
import { type DeliveryRecord, type Opening, openedFor, targetKey } from './record.ts'
import { type Subject, chooseTargets } from './routing.ts'

/** A target under the name by which records know it. */
export type KeyedTarget = Target & { key: string }

/** Who is broken is not told that it is, nor is anybody who brought a webhook: the set-up is the operator's. */
export const keyedTargets = (targets: readonly Target[], { ruleId, source }: Notice): KeyedTarget[] =>
  targets
    .map((target) => ({ ...target, key: targetKey({ channel: target.channel, target: target.id }) }))
    .filter(({ key, own }) => ruleId !== brokenRule || (key !== source && !own))

/** What decides who is told. */
export type About = Pick<Notice, 'hostKey' | 'ruleId' | 'severity'> & Partial<Pick<Notice, 'source' | 'kind'>>

/** Who of the targets is to be told of something, by routes and floors. */
export const chooser =
  (targets: readonly KeyedTarget[], policy: Policy, hosts: ListedHosts) =>
  (about: About): KeyedTarget[] => {
    const { routes, rules, minSeverity } = policy
    const choose = (severity: Severity, floor: Severity | null) =>
      chooseTargets(targets, aboutOf({ ...about, severity }, hosts), { routes, minSeverity: floor })
    // The floor of a rule goes before the one for all.
    if (about.kind !== 'notify') {
      const chosen = choose(about.severity, rules[about.ruleId]?.minSeverity ?? minSeverity)
      // That one is broken somebody has to hear, whatever routes and floors say.
      return chosen.length === 0 && about.ruleId === brokenRule ? [...targets] : chosen
    }
    // What another service reports, such as a weekly report, is no alert: it has no floor, and goes where an alert of any severity would go.
    const chosen = new Set(Severity.options.flatMap((severity) => choose(severity, null)))
    return targets.filter((target) => chosen.has(target))
  }

const aboutOf = ({ hostKey, source = null, ruleId, severity }: About, hosts: ListedHosts): Subject => {
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  const names = [hostKey, host?.name, source].filter((name) => typeof name === 'string')
  return { ruleId, hosts: names, group: host?.group ?? null, tags: host?.tags ?? [], severity }
}

/** As many earlier notices of an episode are looked for in the outbox. */
const mostEarlier = 50

/**
 * Who is to get a notice, of those that there are. What was opened before keeps its recipients; an end goes to whoever was told of the
 * fire or is about to be, whatever routes say by now; all else goes where routes lead.
 */
export const openingOf = async (
  { store, deliveries, clock }: Pick<Delivering, 'store' | 'deliveries' | 'clock'>,
  notice: Notice,
  record: DeliveryRecord | undefined,
  choose: () => readonly KeyedTarget[],
): Promise<Opening> => {
  const nowMs = clock.now()
  const chosen = () => choose().map(({ key }) => key)
  const opened = record ? openedFor(record, notice) : []
  if (opened.length > 0) return { keys: opened, isWhole: true, nowMs }
  if (notice.kind !== 'recover') {
    const told = notice.isAgain ? await toldOf(deliveries, notice) : []
    return { keys: chosen(), told, isWhole: notice.sequence === 0 && !notice.isAgain, nowMs }
  }
  if (record?.isWhole) return { keys: Object.keys(record.recipients), isWhole: true, nowMs }
  const earlier = Array.from(
    { length: Math.min(notice.sequence, mostEarlier) },
    (_, index) => notice.sequence - 1 - index,
  )
  const waiting = record
    ? new Set()
    : await store.outbox.holds(earlier.map((sequence) => `${notice.episode}:${sequence}`))
  // The fire is not delivered yet, so nobody knows of it, and both end here.
  if (waiting.size > 0) return { keys: chosen(), isWhole: true, nowMs }
  // Who took the fire before the store lost the record is on record.
  const told = await toldOf(deliveries, notice)
  const keys = [...told.map(({ key }) => key), ...Object.keys(record?.recipients ?? {})]
  if (keys.length > 0) return { keys, told, isWhole: false, nowMs }
  // Anybody may know of the fire: told twice is better than never.
  return { keys: chosen(), mayKnow: true, isWhole: false, nowMs }
}

/** By key, the latest notice of the episode that each target took, as it is on record. */
const toldOf = async (
  { toldOf }: Delivering['deliveries'],
  { episode }: Notice,
): Promise<{ key: string; sequence: number }[]> =>
  (await toldOf(episode)).map(({ sequence, ...target }) => ({ key: targetKey(target), sequence }))

/** Whether a target that is to get the notice has not, as far as that is on record: of an end, those that took what was before. */
export const isMissed = async (
  { deliveries, policy: current, targets, hosts }: Pick<Delivering, 'deliveries' | 'policy' | 'targets' | 'hosts'>,
  notice: Notice,
): Promise<boolean> => {
  const told = await toldOf(deliveries, notice)
  const isBehind = ({ sequence }: { sequence: number }) => sequence < notice.sequence
  if (notice.kind === 'recover') return told.some(isBehind)
  const policy = await current()
  const chosen = chooser(keyedTargets(targets(policy), notice), policy, await hosts())(notice)
  const upToDate = new Set(told.filter((one) => !isBehind(one)).map(({ key }) => key))
  return chosen.some(({ key }) => !upToDate.has(key))
}
