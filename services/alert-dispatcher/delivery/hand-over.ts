import { Severity } from '#proto/rules.ts'
import { type Clock, instant } from '#shared/clock.ts'
import type { Published, Queue } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import type { Target } from '../channels/targets.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy/policy.ts'
import { brokenRule } from './broken.ts'
import { Ledger, cutOff, keepNotice, ledgerKey, ledgerMs, meanFor, targetKey } from './ledger.ts'
import { type Queued, messageIdOf, subjectOf } from './queued.ts'
import type { ListedHosts } from './delivering.ts'
import type { Deliveries } from './records/store.ts'
import { type Subject, chooseTargets } from './routing.ts'
import type { WaitingEpisodes } from './waiting-episodes.ts'

/** What handing a notice on needs. */
export interface Relaying {
  store: Store
  queue: Queue
  clock: Clock
  deliveries: Deliveries
  waiting: WaitingEpisodes
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  hosts(): Promise<ListedHosts>
}

/** A target under the two names by which the ledger and the queue know it. */
export type Addressed = Target & { key: string }

/** Who is broken is not told that it is, nor is anybody who brought a webhook: the set-up is the operator's. */
export const addressed = (targets: readonly Target[], { ruleId, source }: Notice): Addressed[] =>
  targets
    .map((target) => ({ ...target, key: targetKey({ channel: target.channel, target: target.id }) }))
    .filter(({ key, own }) => ruleId !== brokenRule || (key !== source && !own))

/** What decides who is told. */
export type About = Pick<Notice, 'hostKey' | 'ruleId' | 'severity'> & Partial<Pick<Notice, 'source' | 'kind'>>

/** Who of the targets is to be told of something, by routes and floors. */
export const chooser =
  (targets: readonly Addressed[], policy: Policy, hosts: ListedHosts) =>
  (about: About): Addressed[] => {
    const { routes, rules, minSeverity } = policy
    const choose = (severity: Severity, floor: Severity | null) =>
      chooseTargets(targets, aboutOf({ ...about, severity }, hosts), { routes, minSeverity: floor })
    // The floor of a rule goes before the one for all.
    if (about.kind !== 'notify') return choose(about.severity, rules[about.ruleId]?.minSeverity ?? minSeverity)
    // What another service reports, such as a weekly report, is no alert: it has no floor, and goes where an alert of any severity would go.
    const chosen = new Set(Severity.options.flatMap((severity) => choose(severity, null)))
    return targets.filter((target) => chosen.has(target))
  }

const aboutOf = ({ hostKey, source = null, ruleId, severity }: About, hosts: ListedHosts): Subject => {
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  const names = [hostKey, host?.name, source].filter((name) => typeof name === 'string')
  return { ruleId, hosts: names, group: host?.group ?? null, tags: host?.tags ?? [], severity }
}

/**
 * What was meant earlier and still waits is known to be old once this is written. It is written when nobody is to be told too, so that nobody
 * hears of the end either.
 */
export const mean = async (
  { store, waiting }: Relaying,
  notice: Notice,
  targets: readonly Addressed[],
  isFirst: boolean,
): Promise<void> => {
  const keys = targets.map(({ key }) => key)
  // Of a recovery whose ledger is lost anybody may know the fire: told twice is better than never.
  const mayKnow = notice.kind === 'recover' && isFirst
  // What is told first of an episode was never written of before, unless whoever wrote it died.
  const write = notice.sequence === 0 ? store.updateNew : store.update
  const ledger = await write(ledgerKey(notice.episode), Ledger, (before) => {
    const meant = meanFor(before, keys, notice)
    return { value: keepNotice(mayKnow ? keys.reduce(cutOff, meant) : meant, notice), expiresInMs: ledgerMs }
  })
  if (ledger?.notice) await waiting.add(notice.episode)
}

/** Puts a notice where its target's sender finds it. */
export const enqueue = (
  { queue, clock }: Relaying,
  { channel, id: target }: Target,
  notice: Notice,
): Promise<Published> => {
  const body: Queued = { notice, channel, target, queuedAtMs: instant(clock) }
  return queue.publish(subjectOf(body), { id: messageIdOf(body), body })
}
