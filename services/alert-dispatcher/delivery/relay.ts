import type { Clock } from '#shared/clock.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import type { Store } from '#shared/store/store.ts'
import type { Target } from '../channels/targets.ts'
import type { Deliveries } from './records/store.ts'
import { brokenRule } from './broken.ts'
import { DigestRecord, digestKey, gather } from '../conditions/digest.ts'
import { type Queued, messageIdOf, subjectOf } from './queued.ts'
import { Ledger, cutOff, gatherFor, ledgerKey, ledgerMs, meanFor, sent, targetKey } from './ledger.ts'
import type { ListedHosts } from './listed-hosts.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy/policy.ts'
import { type Subject, chooseTargets } from './routing.ts'

/** What handing a notice on needs. */
export interface Relaying {
  store: Store
  queue: Queue
  clock: Clock
  deliveries: Deliveries
  policy(): Promise<Policy>
  targets(policy: Policy): readonly Target[]
  hosts(): Promise<ListedHosts>
}

/** A target under the two names by which the ledger and the queue know it. */
type Addressed = Target & { key: string }

/**
 * Hands a notice on: into the digest, or to the queue of each target that is to be told. The same notice again changes nothing,
 * wherever the process died the first time.
 */
export const handOn = async (relaying: Relaying, notice: Notice): Promise<void> => {
  const policy = await relaying.policy()
  if (!(await passesDigest(relaying, policy, notice))) return
  const [hosts, targets] = [await relaying.hosts(), addressed(relaying.targets(policy), notice)]
  const choose = (about: About) => chooseTargets(targets, subjectOfNotice(about, hosts), floorsFor(about, policy))
  if (notice.kind === 'digest') return handDigest(relaying, notice, targets, choose)
  const told = notice.kind === 'recover' ? await whoWasTold(relaying, notice, targets) : undefined
  // Who was told of the fire hears of its end, whatever routes and floors say by now.
  const chosen = told ? targets.filter(({ key }) => told.has(key)) : choose(notice)
  await mean(relaying, notice, chosen, told === undefined)
  await enqueue(
    relaying,
    chosen.map((target) => ({ target, notice })),
  )
}

/** Who is broken is not told that it is. */
const addressed = (targets: readonly Target[], { ruleId, source }: Notice): Addressed[] =>
  targets
    .map((target) => ({ ...target, key: targetKey({ channel: target.channel, target: target.id }) }))
    .filter(({ key }) => ruleId !== brokenRule || key !== source)

const passesDigest = async ({ store }: Relaying, { digestMs }: Policy, notice: Notice): Promise<boolean> => {
  if (digestMs === 0 && !(await store.get(digestKey, DigestRecord))) return true
  let passes = true
  await store.update(digestKey, DigestRecord, (before) => {
    const gathering = digestMs === 0 && notice.kind !== 'recover' ? pass(before) : gather(before, notice)
    passes = gathering.passes
    return { value: gathering.record }
  })
  return passes
}

const pass = (record: DigestRecord | undefined) => ({ record, passes: true })

/** The floor of a rule goes before the one for all. */
const floorsFor = ({ ruleId }: About, { routes, rules, minSeverity }: Policy) => ({
  routes,
  minSeverity: rules[ruleId]?.minSeverity ?? minSeverity,
})

type About = Pick<Notice, 'hostKey' | 'ruleId' | 'severity'> & Partial<Pick<Notice, 'source'>>

const subjectOfNotice = ({ hostKey, source = null, ruleId, severity }: About, hosts: ListedHosts): Subject => {
  const host = hostKey === null ? undefined : hosts.get(hostKey)
  const names = [hostKey, host?.name, source].filter((name) => typeof name === 'string')
  return { ruleId, hosts: names, group: host?.group ?? null, tags: host?.tags ?? [], severity }
}

/** By key, who was told of an episode or is about to be; undefined when nobody knows any more. */
const whoWasTold = async (
  { store, deliveries }: Relaying,
  { episode }: Notice,
  targets: readonly Addressed[],
): Promise<ReadonlySet<string> | undefined> => {
  const ledger = await store.get(ledgerKey(episode), Ledger)
  if (ledger) return new Set(Object.keys(ledger.targets))
  const told = await deliveries.toldOf(episode)
  if (told.length === 0) return undefined
  await store.update(ledgerKey(episode), Ledger, (before) => {
    let value: Ledger = before ?? { targets: {} }
    for (const { channel, target, sequence } of told) {
      value = sent(value, targetKey({ channel, target }), { kind: 'fire', sequence }, { kind: 'ok' })
    }
    return { value, expiresInMs: ledgerMs }
  })
  const keys = new Set(told.map(targetKey))
  return new Set(targets.filter(({ key }) => keys.has(key)).map(({ key }) => key))
}

/**
 * Written before the queue has it, so that whatever was meant earlier and still waits is known to be old; and written when nobody
 * is to be told, so that nobody hears of the end either.
 */
const mean = async (
  { store }: Relaying,
  notice: Notice,
  targets: readonly Addressed[],
  isFirst: boolean,
): Promise<void> => {
  const keys = targets.map(({ key }) => key)
  // Of a recovery whose ledger is lost anybody may know the fire: told twice is better than never.
  const mayKnow = notice.kind === 'recover' && isFirst
  await store.update(ledgerKey(notice.episode), Ledger, (before) => {
    const meant = meanFor(before, keys, notice)
    return { value: mayKnow ? keys.reduce(cutOff, meant) : meant, expiresInMs: ledgerMs }
  })
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
  await enqueue(
    relaying,
    chosen.map((target) => ({ target, notice: digestFor(notice, meant.get(target.key) ?? []) })),
  )
}

const split = (targets: readonly Addressed[]): [Addressed[], Addressed[]] => [
  targets.filter(({ opensIncidents }) => opensIncidents),
  targets.filter(({ opensIncidents }) => !opensIncidents),
]

const handAlone = async (relaying: Relaying, notice: Notice, targets: readonly Addressed[]): Promise<void> => {
  if (targets.length === 0) return
  await mean(relaying, notice, targets, true)
  await enqueue(
    relaying,
    targets.map((target) => ({ target, notice })),
  )
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

const enqueue = async (
  { queue, clock }: Relaying,
  meant: readonly { target: Target; notice: Notice }[],
): Promise<void> => {
  await Promise.all(
    meant.map(({ target: { channel, id: target }, notice }) => {
      const body: Queued = { notice, channel, target, queuedAtMs: clock.now() }
      return queue.publish(subjectOf(body), { id: messageIdOf(body), body })
    }),
  )
}
