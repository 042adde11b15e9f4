import type { Logger } from 'pino'
import { openOutageLog } from '#shared/telemetry/outage.ts'
import { recordInstant } from '#shared/time/clock.ts'
import type { ClaimedMessage } from '#shared/store/store.ts'
import { DigestRecord, digestRecordKey, addToDigest } from '../conditions/digest.ts'
import { AddressedNotification, Notification, addressedNotificationTopic, notificationTopic } from '../notification.ts'
import type { Policy } from '../policy.ts'
import {
  type DeliveryDeps,
  type ClaimedOutboxMessage,
  type ListedHosts,
  type PendingDelivery,
  storePendingDeliveries,
} from './delivery-deps.ts'
import type { ClaimLimits, ClaimedMessages } from './claims.ts'
import {
  type KeyedTarget,
  createTargetSelector,
  addTargetKeys,
  findAddressedTargets,
  resolveRecipients,
} from './recipients.ts'
import {
  DeliveryRecord,
  type PendingDeliveryOptions,
  isUndelivered,
  recordDigestRecipients,
  hasUnfinishedDelivery,
  addPendingDeliveries,
  listAddressedTargets,
  getDeliveryRecordKey,
  deliveryRecordTtlMs,
  getTargetKey,
} from './delivery-record.ts'

/** Adds a delivery to the queue of its target; returns whether the queue had room. */
type Enqueue = (delivery: PendingDelivery) => boolean

interface WorkerDeps {
  deps: DeliveryDeps
  claims: ClaimedMessages
  limits: ClaimLimits
  add: Enqueue
}

/**
 * Claims outbox messages and queues their deliveries until disposed. Postpones deliveries whose target queue is full.
 */
export const startOutboxWorker = (worker: WorkerDeps): AsyncDisposable => {
  const { deps, limits } = worker
  const { log, store } = deps
  let running: Promise<void> | undefined
  const outage = openOutageLog(log, { begins: 'reading outbox failed', ends: 'reading outbox recovered' })
  const run = async () => {
    try {
      for (let some = source.next(); some; some = source.next()) {
        await queueMessages(worker, await some)
        outage.worked()
      }
    } catch (error) {
      // The worker tries again at the next wake-up, which happens every second.
      outage.failed(error)
    } finally {
      // This runs in the same tick as the last check. Otherwise, a message that arrives in between would wait for the
      // next wake-up.
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

/** Source of outbox messages; after disposal it only returns messages that are claimed already. */
interface Source extends Disposable {
  /** Returns undefined at once if there is nothing to claim. */
  next(): Promise<readonly ClaimedMessage[]> | undefined
}

/**
 * Opens the source. It first returns messages that this process appended: the write that appends them also claims them.
 * Calls `wake` when messages may be available.
 */
const openSource = (
  outbox: DeliveryDeps['store']['outbox'],
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
  const poll = () => {
    isWanted = true
    wake()
  }
  const take = (messages: readonly ClaimedMessage[]) => {
    own.push(...messages)
    wake()
  }
  const context = outbox.takeOwn({ claimMs, hasRoom: () => own.length < atOnce, take })
  const listening = outbox.onAppend(poll)
  return {
    next() {
      if (own.length > 0) return Promise.resolve(own.splice(0, atOnce))
      if (!isWanted) return undefined
      isWanted = false
      return claim()
    },
    [Symbol.dispose]() {
      context[Symbol.dispose]()
      listening[Symbol.dispose]()
      isWanted = false
      isOver = true
    },
  }
}

interface ParsedMessage {
  message: ClaimedOutboxMessage
  notification: Notification
  /** The target, if the message is for a single one. */
  only?: string | undefined
  /** Whether this is the first attempt of the first notification of an episode, so that no record exists yet. */
  isFirst: boolean
}

/** Queues claimed messages. Messages of one episode stay in order, so that a recovery never overtakes its alert. */
const queueMessages = async (worker: WorkerDeps, claimed: readonly ClaimedMessage[]): Promise<void> => {
  const { claims, deps } = worker
  const { log, store } = deps
  const parsed = claimed.flatMap((message) => parseMessage(message) ?? [])
  const known = new Set(parsed.map(({ message }) => message.id))
  const unknown = claimed.filter(({ id }) => !known.has(id))
  for (const { id, topic } of unknown) log.error({ id, topic }, 'unknown outbox message dropped')
  await store.outbox.ack(unknown.map(({ id }) => id))
  for (const { message } of parsed) claims.hold(message)
  const names = [
    ...new Set(
      parsed.flatMap(({ notification, isFirst }) => (isFirst ? [] : [getDeliveryRecordKey(notification.episode)])),
    ),
  ]
  const [policy, hosts, stored] = await Promise.all([
    deps.policy(),
    deps.hosts(),
    store.getAll(names, DeliveryRecord),
  ]).catch((error: unknown) => {
    claims.forget(parsed.map(({ message }) => message))
    throw error
  })
  const records = new Map(names.map((name, index) => [name, stored[index]]))
  const byEpisode = Map.groupBy(parsed, ({ notification }) => notification.episode)
  await Promise.all(
    [...byEpisode].map(([episode, some]) =>
      queueEpisode(worker, some, { policy, hosts, ...toEpisodeState(records.get(getDeliveryRecordKey(episode))), log }),
    ),
  )
}

const parseMessage = ({ id, topic, payload, attempt }: ClaimedMessage): ParsedMessage | undefined => {
  const message: ClaimedOutboxMessage = { id, notifications: new Set(), comesAgain: false }
  if (topic === notificationTopic) {
    const notification = Notification.safeParse(payload).data
    return (
      notification && {
        message,
        notification,
        isFirst: attempt === 1 && notification.sequence === 0 && notification.kind === 'fire' && !notification.isAgain,
      }
    )
  }
  const addressed = topic === addressedNotificationTopic ? AddressedNotification.safeParse(payload).data : undefined
  return addressed && { message, notification: addressed.notification, only: getTargetKey(addressed), isFirst: false }
}

/** The record of an episode before its next notification. */
interface EpisodeState {
  record: DeliveryRecord | undefined
  /** Whether the record is in the store. If not, the pending deliveries are recorded when the notification is sent. */
  isStored: boolean
}

const toEpisodeState = (record: DeliveryRecord | undefined): EpisodeState => ({
  record,
  isStored: record !== undefined,
})

interface EpisodeContext extends EpisodeState {
  policy: Policy
  hosts: ListedHosts
}

/**
 * Queues the messages of one episode. Stops at the first failure, because later messages depend on earlier ones. They
 * are retried when their claims expire.
 */
const queueEpisode = async (
  worker: WorkerDeps,
  some: readonly ParsedMessage[],
  context: EpisodeContext & { log: Logger },
): Promise<void> => {
  const inOrder = some.toSorted((one, other) => one.notification.sequence - other.notification.sequence)
  let state: EpisodeState = context
  for (const [index, parsed] of inOrder.entries()) {
    try {
      state = await queueNotification(worker, parsed, { ...context, ...state })
    } catch (error) {
      worker.claims.forget(inOrder.slice(index).map(({ message }) => message))
      context.log.warn({ err: error, id: parsed.message.id }, 'delivery failed; it will be retried')
      return
    }
  }
}

/** Queues a notification for its targets, or adds it to the digest. Returns the updated state of its episode. */
const queueNotification = async (
  worker: WorkerDeps,
  parsed: ParsedMessage,
  context: EpisodeContext,
): Promise<EpisodeState> => {
  const { deps, claims } = worker
  const { message, notification, only } = parsed
  const { policy, hosts, record, isStored } = context
  const isOpened = findAddressedTargets(record, notification).length > 0
  if (only === undefined && !isOpened && (await tryAddToDigest(deps, policy, notification))) {
    await deps.store.outbox.ack([message.id])
    claims.forget([message])
    return context
  }
  const targets = addTargetKeys(deps.targets(policy), notification)
  const choose = createTargetSelector(targets, policy, hosts)
  if (notification.kind === 'digest' && only === undefined) return queueDigest(worker, parsed, targets, choose)
  const opening: PendingDeliveryOptions =
    only === undefined
      ? await resolveRecipients(deps, notification, record, () => choose(notification))
      : { keys: [only], isWhole: record?.isWhole ?? false, isReplay: true, nowMs: recordInstant(deps.clock) }
  // The deliveries are recorded now if older notifications may still be queued, because this one must supersede them
  // before it is sent. A notification without recipients is recorded too, and ends here.
  const mustOpen =
    !isOpened &&
    (opening.keys.length === 0 || (notification.sequence > 0 && (!record || hasUnfinishedDelivery(record))))
  const { store } = deps
  const opened = mustOpen ? await storePendingDeliveries(store, notification, { opening, isStored }) : record
  const recordState = { isStored: isStored || mustOpen }
  const keys = mustOpen && opened ? listAddressedTargets(opened, notification) : opening.keys
  // Deliveries that were recorded before still need a result, even if their target no longer exists.
  const exists = new Set(targets.map(({ key }) => key))
  const notifications = keys.flatMap((key): PendingDelivery[] => {
    if (!isOpened && only === undefined && !exists.has(key)) return []
    const sinceMs = computeLifetimeStartMs(record, key, notification, opening)
    return [{ message, notification, ...splitTargetKey(key), opening, recordState, sinceMs }]
  })
  await queueDeliveries(worker, message, notifications, async () => {
    if (isOpened || mustOpen) return
    await storePendingDeliveries(store, notification, { opening, isStored })
    recordState.isStored = true
  })
  return {
    record: mustOpen || isOpened ? opened : addPendingDeliveries(record, notification, opening),
    isStored: recordState.isStored,
  }
}

/** Returns the start of the delivery lifetime; a resent dead letter starts a new one. */
const computeLifetimeStartMs = (
  record: DeliveryRecord | undefined,
  key: string,
  { sequence }: Notification,
  { isReplay = false, nowMs }: PendingDeliveryOptions,
): number => {
  const known = record?.recipients[key]
  const isOpen = known !== undefined && known.sequence >= sequence
  return isOpen && !(isReplay && isUndelivered(known)) ? known.sinceMs : nowMs
}

/** Splits a target key; channel ids contain no colon. */
const splitTargetKey = (key: string): { channel: string; target: string } => {
  const colon = key.indexOf(':')
  return { channel: key.slice(0, colon), target: key.slice(colon + 1) }
}

/** Queues the deliveries of a message. If a target queue is full, starts the lifetime and postpones the delivery. */
const queueDeliveries = async (
  { claims, add, deps }: WorkerDeps,
  message: ClaimedOutboxMessage,
  notifications: readonly PendingDelivery[],
  beginLife: () => Promise<void>,
): Promise<void> => {
  if (notifications.length === 0) {
    await deps.store.outbox.ack([message.id])
    claims.forget([message])
    return
  }
  for (const delivery of notifications) message.notifications.add(delivery)
  const left = notifications.filter((delivery) => !add(delivery))
  if (left.length === 0) return
  await beginLife()
  for (const delivery of left) await claims.postpone(delivery)
}

/** Adds the notification to the digest if it belongs there; returns whether it was added. */
const tryAddToDigest = async (
  { store }: DeliveryDeps,
  { digestMs }: Policy,
  notification: Notification,
): Promise<boolean> => {
  const { kind, isOverdue = false } = notification
  // Without a window, only overdue notifications join a digest, and recoveries of conditions that already wait in it.
  if (kind === 'notify' || (digestMs === 0 && kind !== 'recover' && !isOverdue)) return false
  if (digestMs === 0 && !isOverdue && !(await store.get(digestRecordKey, DigestRecord))) return false
  let passes = true
  await store.update(digestRecordKey, DigestRecord, (before) => {
    const gathering = addToDigest(before, notification)
    passes = gathering.passes
    return { value: gathering.record }
  })
  return !passes
}

/**
 * Queues a digest. Each target receives the entries that are routed to it, and is added to their delivery records.
 * Channels that open incidents receive each entry separately.
 */
const queueDigest = async (
  worker: WorkerDeps,
  { message, notification }: ParsedMessage,
  targets: readonly KeyedTarget[],
  choose: ReturnType<typeof createTargetSelector>,
): Promise<EpisodeState> => {
  const { store, clock } = worker.deps
  const nowMs = recordInstant(clock)
  const entriesByTarget = new Map<string, Notification['gathered']>()
  const notifications: PendingDelivery[] = []
  for (const entry of notification.gathered) {
    const chosen = choose(entry)
    const pagers = chosen.filter(({ opensIncidents }) => opensIncidents).map(({ key }) => key)
    const readers = chosen.filter(({ opensIncidents }) => !opensIncidents).map(({ key }) => key)
    for (const key of readers) entriesByTarget.set(key, [...(entriesByTarget.get(key) ?? []), entry])
    if (entry.recovered) continue
    const alone = separateEntry(notification, entry)
    const opening = { keys: pagers, isWhole: true, nowMs }
    await store.update(getDeliveryRecordKey(entry.episode), DeliveryRecord, (before) => ({
      value: addPendingDeliveries(recordDigestRecipients(before, readers, notification.episode, nowMs), alone, opening),
      expiresInMs: deliveryRecordTtlMs,
    }))
    const recordState = { isStored: true }
    for (const key of pagers)
      notifications.push({ message, notification: alone, ...splitTargetKey(key), opening, recordState, sinceMs: nowMs })
  }
  const keys = targets.flatMap(({ key }) => (entriesByTarget.has(key) ? [key] : []))
  const opening = { keys, isWhole: true, nowMs }
  const recordState = { isStored: false }
  for (const key of keys) {
    const digest = buildTargetDigest(notification, entriesByTarget.get(key) ?? [])
    notifications.push({ message, notification: digest, ...splitTargetKey(key), opening, recordState, sinceMs: nowMs })
  }
  await queueDeliveries(
    worker,
    message,
    notifications,
    async () => void (await storePendingDeliveries(store, notification, { opening, isStored: false })),
  )
  return { record: undefined, isStored: false }
}

/** Returns one digest entry as a separate notification, without its measured values. */
const separateEntry = (
  digest: Notification,
  { recovered: _, ...condition }: Notification['gathered'][number],
): Notification => ({
  ...digest,
  ...condition,
  id: `${condition.episode}:0`,
  kind: 'fire',
  sequence: 0,
  value: null,
  threshold: null,
  gathered: [],
})

const buildTargetDigest = (notification: Notification, gathered: Notification['gathered']): Notification => ({
  ...notification,
  gathered,
  value: gathered.length,
  title: gathered.length === 1 ? '1 condition' : `${gathered.length} conditions`,
})
