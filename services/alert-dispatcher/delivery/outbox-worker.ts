import type { Logger } from 'pino'
import { openOutage } from '#shared/telemetry/outage.ts'
import { instant } from '#shared/time/clock.ts'
import type { ClaimedMessage } from '#shared/store/store.ts'
import { DigestRecord, digestKey, gather } from '../conditions/digest.ts'
import { Addressed, Notice, addressedTopic, noticeTopic } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { type Delivering, type HeldMessage, type ListedHosts, type Notification, openInStore } from './delivering.ts'
import type { ClaimLimits, Hand } from './hand.ts'
import { type KeyedTarget, chooser, keyedTargets, openedBefore, openingOf } from './recipients.ts'
import {
  DeliveryRecord,
  type Opening,
  isGivenUp,
  gatherFor,
  isUnderWay,
  open,
  openedFor,
  recordKey,
  recordMs,
  targetKey,
} from './record.ts'

/** Where notifications wait for their targets; false when there is no room. */
type Add = (notification: Notification) => boolean

interface Worker {
  delivering: Delivering
  hand: Hand
  limits: ClaimLimits
  add: Add
}

/** Claims what the outbox holds until disposed, and puts each notice before its targets. What there is no room for is given back for a while. */
export const startOutboxWorker = (worker: Worker): AsyncDisposable => {
  const { delivering, limits } = worker
  const { log, store } = delivering
  let running: Promise<void> | undefined
  const outage = openOutage(log, { begins: 'outbox cannot be read', ends: 'outbox is read again' })
  const run = async () => {
    try {
      for (let some = source.next(); some; some = source.next()) {
        await takeAll(worker, await some)
        outage.worked()
      }
    } catch (error) {
      // A store that is away is asked again at the next wake, which comes every second.
      outage.failed(error)
    } finally {
      // With the last look and not after it: what comes in between would lie there until the next wake.
      running = undefined
    }
  }
  const start = () => {
    running ??= run()
  }
  const source = openSource(store.outbox, limits, start)
  start()
  return {
    async [Symbol.asyncDispose]() {
      source[Symbol.dispose]()
      await running
    },
  }
}

/** Where messages come from; disposed, it gives only what it has claimed. */
interface Source extends Disposable {
  /** Undefined, and that at once, while there is nothing to look for. */
  next(): Promise<readonly ClaimedMessage[]> | undefined
}

/** First what is decided in this process, which the deciding write claims for it, then what lies in the outbox. `wake` tells of either. */
const openSource = (
  outbox: Delivering['store']['outbox'],
  { atOnce, claimMs }: ClaimLimits,
  wake: () => void,
): Source => {
  const own: ClaimedMessage[] = []
  let isWanted = true
  let isOver = false
  const claim = async () => {
    const claimed = await outbox.claim(atOnce, claimMs)
    if (claimed.length === atOnce && !isOver) isWanted = true
    return claimed
  }
  const look = () => {
    isWanted = true
    wake()
  }
  const take = (messages: readonly ClaimedMessage[]) => {
    own.push(...messages)
    wake()
  }
  const taking = outbox.takeOwn({ claimMs, hasRoom: () => own.length < atOnce, take })
  const listening = outbox.onAppend(look)
  return {
    next() {
      if (own.length > 0) return Promise.resolve(own.splice(0, atOnce))
      if (!isWanted) return undefined
      isWanted = false
      return claim()
    },
    [Symbol.dispose]() {
      taking[Symbol.dispose]()
      listening[Symbol.dispose]()
      isWanted = false
      isOver = true
    },
  }
}

interface Read {
  message: HeldMessage
  notice: Notice
  /** The one target that it is for. */
  only?: string | undefined
  /** Nothing can be known of what is handled for the first time and is the first of its episode. */
  isFirst: boolean
}

/** Puts claimed messages before their targets. Each episode goes in its order: a recovery must not overtake its fire. */
const takeAll = async (worker: Worker, claimed: readonly ClaimedMessage[]): Promise<void> => {
  const { hand, delivering } = worker
  const { log, store } = delivering
  const read = claimed.flatMap((message) => readMessage(message) ?? [])
  const known = new Set(read.map(({ message }) => message.id))
  const unknown = claimed.filter(({ id }) => !known.has(id))
  for (const { id, topic } of unknown) log.error({ id, topic }, 'outbox held what nobody knows; it is dropped')
  await store.outbox.ack(unknown.map(({ id }) => id))
  for (const { message } of read) hand.hold(message)
  const names = [...new Set(read.flatMap(({ notice, isFirst }) => (isFirst ? [] : [recordKey(notice.episode)])))]
  const [policy, hosts, stored] = await Promise.all([
    delivering.policy(),
    delivering.hosts(),
    store.getAll(names, DeliveryRecord),
  ]).catch((error: unknown) => {
    hand.forget(read.map(({ message }) => message))
    throw error
  })
  const records = new Map(names.map((name, index) => [name, stored[index]]))
  const byEpisode = Map.groupBy(read, ({ notice }) => notice.episode)
  await Promise.all(
    [...byEpisode].map(([episode, some]) =>
      takeEpisode(worker, some, { policy, hosts, ...storedOf(records.get(recordKey(episode))), log }),
    ),
  )
}

const readMessage = ({ id, topic, payload, attempt }: ClaimedMessage): Read | undefined => {
  const message: HeldMessage = { id, notifications: new Set(), comesAgain: false }
  if (topic === noticeTopic) {
    const notice = Notice.safeParse(payload).data
    return (
      notice && {
        message,
        notice,
        isFirst: attempt === 1 && notice.sequence === 0 && notice.kind === 'fire' && !notice.isAgain,
      }
    )
  }
  const addressed = topic === addressedTopic ? Addressed.safeParse(payload).data : undefined
  return addressed && { message, notice: addressed.notice, only: targetKey(addressed), isFirst: false }
}

/** The record of an episode as its next notice finds it. */
interface Standing {
  record: DeliveryRecord | undefined
  /** Whether the store has a record; else the notice before is opened with its send. */
  isStored: boolean
}

const storedOf = (record: DeliveryRecord | undefined): Standing => ({ record, isStored: record !== undefined })

interface Taking extends Standing {
  policy: Policy
  hosts: ListedHosts
}

/** Ends with the first that fails, for the others are about what follows it; they come again when their claims are over. */
const takeEpisode = async (worker: Worker, some: readonly Read[], taking: Taking & { log: Logger }): Promise<void> => {
  const inOrder = some.toSorted((one, other) => one.notice.sequence - other.notice.sequence)
  let standing: Standing = taking
  for (const [index, read] of inOrder.entries()) {
    try {
      standing = await takeOne(worker, read, { ...taking, ...standing })
    } catch (error) {
      worker.hand.forget(inOrder.slice(index).map(({ message }) => message))
      taking.log.warn({ err: error, id: read.message.id }, 'notice not delivered; it comes again')
      return
    }
  }
}

/** Returns the record as it stands afterwards. */
const takeOne = async (worker: Worker, read: Read, taking: Taking): Promise<Standing> => {
  const { delivering, hand } = worker
  const { message, notice, only } = read
  const { policy, hosts, record, isStored } = taking
  const isOpened = openedBefore(record, notice).length > 0
  if (only === undefined && !isOpened && (await waitsForDigest(delivering, policy, notice))) {
    await delivering.store.outbox.ack([message.id])
    hand.forget([message])
    return taking
  }
  const targets = keyedTargets(delivering.targets(policy), notice)
  const choose = chooser(targets, policy, hosts)
  if (notice.kind === 'digest' && only === undefined) return takeDigest(worker, read, targets, choose)
  const opening: Opening =
    only === undefined
      ? await openingOf(delivering, notice, record, () => choose(notice))
      : { keys: [only], isWhole: record?.isWhole ?? false, isReplay: true, nowMs: instant(delivering.clock) }
  // What waits for a target already must be old before this is sent; and what is for nobody ends here.
  const mustOpen = !isOpened && (opening.keys.length === 0 || (notice.sequence > 0 && (!record || isUnderWay(record))))
  const { store } = delivering
  const opened = mustOpen ? await openInStore(store, notice, { opening, isStored }) : record
  const kept = { isRecord: isStored || mustOpen }
  const keys = mustOpen && opened ? openedFor(opened, notice) : opening.keys
  // Of what was opened before, a target that is gone has yet to get its end.
  const exists = new Set(targets.map(({ key }) => key))
  const notifications = keys.flatMap((key): Notification[] => {
    if (!isOpened && only === undefined && !exists.has(key)) return []
    return [{ message, notice, ...addressOf(key), opening, kept, sinceMs: sinceOf(record, key, notice, opening) }]
  })
  await place(worker, message, notifications, async () => {
    if (isOpened || mustOpen) return
    await openInStore(store, notice, { opening, isStored })
    kept.isRecord = true
  })
  return {
    record: mustOpen || isOpened ? opened : open(record, notice, opening),
    isStored: kept.isRecord,
  }
}

/** Since when the life of a notice counts at a target; of one that is sent again because an operator asks for it, from now on. */
const sinceOf = (
  record: DeliveryRecord | undefined,
  key: string,
  { sequence }: Notice,
  { isReplay = false, nowMs }: Opening,
): number => {
  const known = record?.recipients[key]
  const isOpen = known !== undefined && known.sequence >= sequence
  return isOpen && !(isReplay && isGivenUp(known)) ? known.sinceMs : nowMs
}

/** The address in a key; the ids of channels have no colon. */
const addressOf = (key: string): { channel: string; target: string } => {
  const colon = key.indexOf(':')
  return { channel: key.slice(0, colon), target: key.slice(colon + 1) }
}

/** Puts the notifications of a message before their targets. What has no room is put off, once its life has begun. */
const place = async (
  { hand, add, delivering }: Worker,
  message: HeldMessage,
  notifications: readonly Notification[],
  beginLife: () => Promise<void>,
): Promise<void> => {
  if (notifications.length === 0) {
    await delivering.store.outbox.ack([message.id])
    hand.forget([message])
    return
  }
  for (const notification of notifications) message.notifications.add(notification)
  const left = notifications.filter((notification) => !add(notification))
  if (left.length === 0) return
  await beginLife()
  for (const notification of left) await hand.putOff(notification)
}

/** Whether the notice waits in the digest; those within its window belong to it, and so do their ends. */
const waitsForDigest = async ({ store }: Delivering, { digestMs }: Policy, notice: Notice): Promise<boolean> => {
  // Without a window there is only what waits since there was one, whose ends belong to it.
  if (notice.kind === 'notify' || (digestMs === 0 && notice.kind !== 'recover')) return false
  if (digestMs === 0 && !(await store.get(digestKey, DigestRecord))) return false
  let passes = true
  await store.update(digestKey, DigestRecord, (before) => {
    const gathering = gather(before, notice)
    passes = gathering.passes
    return { value: gathering.record }
  })
  return !passes
}

/** Each target gets what of the digest is meant for it; who gets it has been told of those episodes. Who opens incidents gets each by itself. */
const takeDigest = async (
  worker: Worker,
  { message, notice }: Read,
  targets: readonly KeyedTarget[],
  choose: ReturnType<typeof chooser>,
): Promise<Standing> => {
  const { store, clock } = worker.delivering
  const nowMs = instant(clock)
  const meant = new Map<string, Notice['gathered']>()
  const notifications: Notification[] = []
  for (const entry of notice.gathered) {
    const chosen = choose(entry)
    const pagers = chosen.filter(({ opensIncidents }) => opensIncidents).map(({ key }) => key)
    const readers = chosen.filter(({ opensIncidents }) => !opensIncidents).map(({ key }) => key)
    for (const key of readers) meant.set(key, [...(meant.get(key) ?? []), entry])
    if (entry.recovered) continue
    const alone = aloneFor(notice, entry)
    const opening = { keys: pagers, isWhole: true, nowMs }
    await store.update(recordKey(entry.episode), DeliveryRecord, (before) => ({
      value: open(gatherFor(before, readers, notice.episode, nowMs), alone, opening),
      expiresInMs: recordMs,
    }))
    const kept = { isRecord: true }
    for (const key of pagers)
      notifications.push({ message, notice: alone, ...addressOf(key), opening, kept, sinceMs: nowMs })
  }
  const keys = targets.flatMap(({ key }) => (meant.has(key) ? [key] : []))
  const opening = { keys, isWhole: true, nowMs }
  const kept = { isRecord: false }
  for (const key of keys) {
    const digest = digestFor(notice, meant.get(key) ?? [])
    notifications.push({ message, notice: digest, ...addressOf(key), opening, kept, sinceMs: nowMs })
  }
  await place(
    worker,
    message,
    notifications,
    async () => void (await openInStore(store, notice, { opening, isStored: false })),
  )
  return { record: undefined, isStored: false }
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
