import { Severity } from '#proto/rules.ts'
import { instant } from '#shared/time/clock.ts'
import type { Target } from '../channels/targets.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { brokenRule } from './broken.ts'
import type { Delivering, ListedHosts } from './delivering.ts'
import { DeliveryRecord, type Opening, isAtEnd, openedFor, recordKey, targetKey } from './record.ts'
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
  // Its age counts from here, also when the clock is set before anybody looks at it.
  const nowMs = instant(clock)
  const chosen = () => choose().map(({ key }) => key)
  const opened = openedBefore(record, notice)
  if (opened.length > 0) return { keys: opened, isWhole: true, nowMs }
  if (notice.kind !== 'recover') {
    const told = notice.isAgain ? await toldOf(deliveries, notice) : []
    return { keys: chosen(), told, isWhole: notice.sequence === 0 && !notice.isAgain, nowMs }
  }
  if (record?.isWhole && !notice.isAgain) return { keys: Object.keys(record.recipients), isWhole: true, nowMs }
  const earlier = Array.from(
    { length: Math.min(notice.sequence, mostEarlier) },
    (_, index) => notice.sequence - 1 - index,
  )
  const waiting = record
    ? new Set()
    : await store.outbox.holds(earlier.map((sequence) => `${notice.episode}:${sequence}`))
  // Who took the fire before the store lost the record is on record.
  const told = await toldOf(deliveries, notice)
  const keys = [...told.map(({ key }) => key), ...Object.keys(record?.recipients ?? {})]
  // The fire is not delivered yet, so nobody else knows of it, and both end here.
  if (waiting.size > 0) return { keys: [...keys, ...chosen()], told, isWhole: told.length === 0, nowMs }
  if (keys.length > 0) return { keys, told, isWhole: false, nowMs }
  // Anybody may know of the fire: told twice is better than never.
  return { keys: chosen(), mayKnow: true, isWhole: false, nowMs }
}

/** Who was to get a notice when it was opened before. Of one that is made again after a loss the record may name some of them. */
export const openedBefore = (record: DeliveryRecord | undefined, notice: Notice): string[] =>
  record && !notice.isAgain ? openedFor(record, notice) : []

/**
 * By key, what each target took of the episode, as it is on record. What a database was told of an episode may be older than what its
 * targets were: so whether a target took the end decides about an end, and no sequence.
 */
const toldOf = async (
  { toldOf }: Delivering['deliveries'],
  { episode, kind, sequence }: Notice,
): Promise<{ key: string; sequence: number; isOver: boolean }[]> =>
  (await toldOf(episode)).map(({ isOver, ...told }) => {
    const beforeEnd = Math.max(0, Math.min(told.sequence, sequence - 1))
    return {
      key: targetKey(told),
      sequence: kind !== 'recover' ? told.sequence : isOver ? sequence : beforeEnd,
      isOver,
    }
  })

/** Whether a target that is to get the notice has not, as far as that is on record: of an end, those that took what was before it. */
export const isMissed = async (delivering: Missing, notice: Notice): Promise<boolean> => {
  const { deliveries, policy: current, targets, hosts } = delivering
  const told = await toldOf(deliveries, notice)
  if (notice.kind === 'recover') return isEndMissed(delivering, notice, told)
  const policy = await current()
  const chosen = chooser(keyedTargets(targets(policy), notice), policy, await hosts())(notice)
  const upToDate = new Set(told.filter(({ sequence }) => sequence >= notice.sequence).map(({ key }) => key))
  return chosen.some(({ key }) => !upToDate.has(key))
}

type Missing = Pick<Delivering, 'store' | 'deliveries' | 'policy' | 'targets' | 'hosts'>

/** An end that the outbox holds is under way, and one that was dropped or is dead is dealt with. */
const isEndMissed = async (
  { store }: Missing,
  { episode, sequence }: Notice,
  told: readonly { key: string; isOver: boolean }[],
): Promise<boolean> => {
  const open = told.filter(({ isOver }) => !isOver)
  if (open.length === 0) return false
  // The database may have missed what came between.
  const ends = Array.from({ length: mostEarlier }, (_, index) => `${episode}:${sequence + index}`)
  if ((await store.outbox.holds(ends)).size > 0) return false
  const record = await store.get(recordKey(episode), DeliveryRecord)
  return open.some(({ key }) => {
    const known = record?.recipients[key]
    return known === undefined || known.sequence !== record?.endedBy || !isAtEnd(known)
  })
}
