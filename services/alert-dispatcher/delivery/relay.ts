import { setImmediate as afterThisTurn } from 'node:timers/promises'
import { Severity } from '#proto/rules.ts'
import type { Published, Queue } from '#shared/bus/durable/queue.ts'
import { type Clock, instant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import type { Target } from '../channels/targets.ts'
import { DigestRecord, digestKey, gather } from '../conditions/digest.ts'
import { type Notice, type Queued, messageIdOf, subjectOf } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { brokenRule } from './broken.ts'
import type { ListedHosts } from './delivering.ts'
import {
  Ledger,
  gatherFor,
  ledgerKey,
  ledgerMs,
  sent,
  targetKey,
  cutOff,
  keepNotice,
  meanFor,
  type WaitingEpisodes,
} from './ledger.ts'
import type { Deliveries } from './deliveries.ts'
import { type Subject, chooseTargets } from './routing.ts'

/**
 * Hands a notice on: into the digest, or to the queue of each target that is to be told. The same notice again changes nothing,
 * wherever the process died the first time.
 */
export const handOn = async (relaying: Relaying, notice: Notice): Promise<void> => {
  const policy = await relaying.policy()
  if (!(await passesDigest(relaying, policy, notice))) return
  const targets = addressed(relaying.targets(policy), notice)
  const choose = chooser(targets, policy, await relaying.hosts())
  if (notice.kind === 'digest') return handDigest(relaying, notice, targets, choose)
  const told = notice.kind === 'recover' ? await whoWasTold(relaying, notice) : undefined
  // Who was told of the fire hears of its end, whatever routes and floors say by now.
  const chosen = told ? targets.filter(({ key }) => told.has(key)) : chosenFor(notice, targets, choose)
  const write = () => mean(relaying, notice, chosen, told === undefined)
  // A fire must be known to be over before its end can be told, and to be old before what is worse; nothing is older than the first.
  const isFirst = notice.sequence === 0
  if (!isFirst) await write()
  await Promise.all(chosen.map((target) => enqueue(relaying, target, notice)))
  if (!isFirst) return
  // Whoever has it from the queue by now goes first with what it asks of the store.
  await afterThisTurn()
  await write()
}

/** Puts a notice into the queue again for those of its targets that exist, as it was put there first. Returns how often. */
export const publishAgain = async (relaying: Relaying, notice: Notice, keys: ReadonlySet<string>): Promise<number> => {
  const policy = await relaying.policy()
  const all = addressed(relaying.targets(policy), notice)
  const targets = all.filter(({ key }) => keys.has(key))
  const choose = chooser(all, policy, await relaying.hosts())
  const isFor = (key: string) => (about: About) => choose(about).some((chosen) => chosen.key === key)
  const noticeFor = ({ key }: Addressed) =>
    notice.kind === 'digest' ? digestFor(notice, notice.gathered.filter(isFor(key))) : notice
  await Promise.all(targets.map((target) => enqueue(relaying, target, noticeFor(target))))
  return targets.length
}

/** That one is broken somebody has to hear, whatever routes and floors say. */
const chosenFor = (
  notice: Notice,
  targets: readonly Addressed[],
  choose: (about: About) => readonly Addressed[],
): readonly Addressed[] => {
  const chosen = choose(notice)
  return chosen.length === 0 && notice.ruleId === brokenRule ? targets : chosen
}

const passesDigest = async ({ store }: Relaying, { digestMs }: Policy, notice: Notice): Promise<boolean> => {
  // Without a window there is only what waits since there was one, whose ends belong to it.
  if (digestMs === 0 && notice.kind !== 'recover') return true
  let passes = true
  await store.update(digestKey, DigestRecord, (before) => {
    if (digestMs === 0 && !before) return undefined
    const gathering = gather(before, notice)
    passes = gathering.passes
    return { value: gathering.record }
  })
  return passes
}

/** By key, who was told of an episode or is about to be; undefined when nobody knows any more. */
const whoWasTold = async (
  { store, deliveries }: Relaying,
  { episode }: Notice,
): Promise<ReadonlySet<string> | undefined> => {
  const ledger = await store.get(ledgerKey(episode), Ledger)
  const known = ledger && Object.keys(ledger.targets)
  if (ledger?.isWhole) return new Set(known)
  // Who took the fire before the ledger was lost is on record.
  const told = await deliveries.toldOf(episode)
  if (told.length === 0) return known && new Set(known)
  await store.update(ledgerKey(episode), Ledger, (before) => {
    const value = told.reduce<Ledger | undefined>(
      (noted, { sequence, ...target }) => sent(noted, targetKey(target), { kind: 'fire', sequence }, { kind: 'ok' }),
      before,
    )
    return { value, expiresInMs: ledgerMs }
  })
  return new Set([...(known ?? []), ...told.map(targetKey)])
}

/** Each target gets what of the digest is meant for it; who gets it has been told of those episodes. */
const handDigest = async (
  relaying: Relaying,
  notice: Notice,
  targets: readonly Addressed[],
  choose: (about: About) => readonly Addressed[],
): Promise<void> => {
  const meant = new Map<string, Notice['gathered']>()
  for (const entry of notice.gathered) {
    const [pagers, readers] = split(choose(entry))
    const keys = readers.map(({ key }) => key)
    for (const key of keys) meant.set(key, [...(meant.get(key) ?? []), entry])
    if (entry.recovered) continue
    await relaying.store.update(ledgerKey(entry.episode), Ledger, (before) => ({
      value: gatherFor(before, keys, notice.episode),
      expiresInMs: ledgerMs,
    }))
    await handAlone(relaying, aloneFor(notice, entry), pagers)
  }
  const chosen = targets.filter(({ key }) => meant.has(key))
  await mean(relaying, notice, chosen, true)
  await Promise.all(chosen.map((target) => enqueue(relaying, target, digestFor(notice, meant.get(target.key) ?? []))))
}

const split = (targets: readonly Addressed[]): [Addressed[], Addressed[]] => [
  targets.filter(({ opensIncidents }) => opensIncidents),
  targets.filter(({ opensIncidents }) => !opensIncidents),
]

const handAlone = async (relaying: Relaying, notice: Notice, targets: readonly Addressed[]): Promise<void> => {
  if (targets.length === 0) return
  await mean(relaying, notice, targets, true)
  await Promise.all(targets.map((target) => enqueue(relaying, target, notice)))
}

/** One condition of a digest as it would have been told at once; its figures are known no more. */
const aloneFor = (digest: Notice, { recovered: _, ...condition }: Notice['gathered'][number]): Notice => ({
  ...digest,
  ...condition,
  id: `${condition.episode}:0`,
  kind: 'fire',
  sequence: 0,
  value: null,
  threshold: null,
  gathered: [],
})

const digestFor = (notice: Notice, gathered: Notice['gathered']): Notice => ({
  ...notice,
  gathered,
  value: gathered.length,
  title: gathered.length === 1 ? '1 condition' : `${gathered.length} conditions`,
})

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
type About = Pick<Notice, 'hostKey' | 'ruleId' | 'severity'> & Partial<Pick<Notice, 'source' | 'kind'>>

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
