import { z } from 'zod'
import type { SendResult } from '../channels/channel.ts'
import type { Notification } from '../notification.ts'

/** Delivery state of an episode at one target. */
export const TargetDelivery = z.object({
  /** The latest notification for this target. */
  sequence: z.int().min(0),
  /** State of that notification; `reason` is set for `dead` and `dropped`. */
  state: z.enum(['pending', 'sending', 'sent', 'retry', 'dead', 'dropped']),
  reason: z.string().max(600).nullable(),
  /** Failed sends of that notification. */
  attempts: z.int().min(0),
  /** Epoch milliseconds from which the lifetime of that notification counts. */
  sinceMs: z.number(),
  /** The notification that is being sent, possibly an earlier one; null if none is. */
  sending: z.int().min(0).nullable(),
  /** Sequence numbers of the last received notifications, to recognize duplicates. */
  taken: z.array(z.int().min(0)).max(8),
  /** Whether a send had no known result. The target may then have received the alert. */
  mayKnow: z.boolean(),
  /** The digest that will report the alert; null if none is in progress. */
  digest: z.string().max(160).nullable(),
})
export type TargetDelivery = z.infer<typeof TargetDelivery>

/** Delivery of one episode to its targets, by `getTargetKey`; stored under `getDeliveryRecordKey`. */
export const DeliveryRecord = z.object({
  recipients: z.record(z.string().max(130), TargetDelivery),
  /** Sequence number of the recovery; null until the episode has recovered. */
  endedBy: z.int().min(0).nullable(),
  /** False if the store lost earlier deliveries, so that there may be other recipients. */
  isWhole: z.boolean(),
})
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

export const getDeliveryRecordKey = (episode: string): string => `alerts:delivery:${episode}`

/** How long a delivery record is stored after its last change. */
export const deliveryRecordTtlMs = 90 * 24 * 3_600_000

export const getTargetKey = ({ channel, target }: { channel: string; target: string }): string => `${channel}:${target}`

type NotificationKey = Pick<Notification, 'kind' | 'sequence'>

/** The targets of a notification, and what is known of its earlier deliveries. */
export interface PendingDeliveryOptions {
  /** Keys of the targets, as of `getTargetKey`. */
  keys: readonly string[]
  /** Targets that received a notification of the episode before the store lost its record. */
  notified?: readonly { key: string; sequence: number }[]
  /** Whether the recipients of the alert are unknown. Each target may then have received it. */
  mayKnow?: boolean
  /** Whether the record contains every delivery of the episode. */
  isWhole: boolean
  /** Whether a dead letter is being resent. */
  isReplay?: boolean
  nowMs: number
}

/**
 * Returns the record with a pending delivery of the notification for each recipient; it supersedes earlier
 * notifications. Adding the same notification again changes nothing, unless a dead letter is resent (`isReplay`).
 */
export const addPendingDeliveries = (
  record: DeliveryRecord | undefined,
  { kind, sequence }: NotificationKey,
  opening: PendingDeliveryOptions,
): DeliveryRecord => {
  const { keys, notified = [], mayKnow = false, isWhole, isReplay = false, nowMs } = opening
  const before = record ?? { recipients: {}, endedBy: null, isWhole }
  const recipients = { ...before.recipients }
  for (const { key, sequence: taken } of notified) {
    const known = recipients[key] ?? { ...unsentDelivery, sequence: taken, state: 'sent', sinceMs: nowMs }
    recipients[key] = addReceived(known, taken)
  }
  // Recipients of the alert also get its recovery, even if that turns out to be unnecessary.
  const all = kind === 'recover' ? new Set([...keys, ...Object.keys(recipients)]) : new Set(keys)
  for (const key of all) {
    const known = recipients[key] ?? { ...unsentDelivery, mayKnow }
    const isNew = recipients[key] === undefined || known.sequence < sequence
    const isAgain = isReplay && known.sequence === sequence && isUndelivered(known)
    if (isNew || isAgain)
      recipients[key] = { ...known, sequence, state: 'pending', reason: null, attempts: 0, sinceMs: nowMs }
  }
  return {
    ...before,
    recipients,
    endedBy: kind === 'recover' ? Math.max(before.endedBy ?? 0, sequence) : before.endedBy,
  }
}

const unsentDelivery: TargetDelivery = {
  sequence: 0,
  state: 'pending',
  reason: null,
  attempts: 0,
  sinceMs: 0,
  sending: null,
  taken: [],
  mayKnow: false,
  digest: null,
}

/**
 * Next step for a notification at one target: send it, wait for the digest that reports the alert, or nothing because
 * it has ended.
 */
export type NextStep = 'send' | 'wait' | 'sent' | { end: 'dead' | 'dropped'; reason: string | null }

/** Returns the next step of a notification at one target, based on what the target has received. */
export const decideNextStep = (record: DeliveryRecord, key: string, { kind, sequence }: NotificationKey): NextStep => {
  const { recipients, endedBy } = record
  const known = recipients[key]
  if (known?.taken.includes(sequence)) return 'sent'
  if (endedBy !== null && endedBy > sequence) return dropNotification('recovered before it was sent')
  if (known === undefined) return 'send'
  if (known.sequence > sequence) return dropNotification('superseded by a later notification')
  if (known.state === 'dead' || known.state === 'dropped') return { end: known.state, reason: known.reason }
  if (kind !== 'recover' || known.taken.length > 0 || known.mayKnow) return 'send'
  return known.digest === null ? dropNotification('the target never received the alert that recovered') : 'wait'
}

const dropNotification = (reason: string): NextStep => ({ end: 'dropped', reason })

/** Returns the record after an interrupted send, which may have reached the target. */
export const markInterrupted = (record: DeliveryRecord, key: string): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) =>
    known.sending === null ? known : { ...known, sending: null, mayKnow: true },
  )

/** Returns the record with a send in progress. */
export const markSending = (record: DeliveryRecord, key: string, { sequence }: NotificationKey): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) => ({
    ...known,
    sending: sequence,
    ...changeIfLatest(known, sequence, { state: 'sending' }),
  }))

/** Returns the record after a successful or failed send; `isOver` means that no retry follows. */
export const recordSendEnd = (
  record: DeliveryRecord,
  key: string,
  { sequence }: NotificationKey,
  { result, isOver }: { result: SendResult; isOver: boolean },
): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) => {
    const ended = { ...known, sending: null }
    if (result.kind === 'ok')
      return { ...addReceived(ended, sequence), ...changeIfLatest(known, sequence, { state: 'sent' }) }
    const mayKnow = known.mayKnow || (result.kind === 'retry' && result.mayHaveArrived === true)
    const [state, reason] = isOver ? (['dead', result.reason] as const) : (['retry', null] as const)
    return { ...ended, mayKnow, ...changeIfLatest(known, sequence, { state, reason, attempts: known.attempts + 1 }) }
  })

/**
 * Returns the record after the target rejected a group. The notification is pending again, because it can still be sent
 * on its own.
 */
export const withdrawSend = (record: DeliveryRecord, key: string, { sequence }: NotificationKey): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) => ({
    ...known,
    sending: null,
    ...changeIfLatest(known, sequence, { state: 'pending' }),
  }))

/** Returns the record after a notification ended without a send. */
export const markUndelivered = (
  record: DeliveryRecord,
  key: string,
  { sequence }: NotificationKey,
  { state, reason }: Pick<TargetDelivery, 'reason'> & { state: 'dead' | 'dropped' },
): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) => ({ ...known, ...changeIfLatest(known, sequence, { state, reason }) }))

/** Returns the record of an episode that a digest will report to these targets. */
export const recordDigestRecipients = (
  record: DeliveryRecord | undefined,
  keys: readonly string[],
  digest: string,
  nowMs: number,
): DeliveryRecord => {
  const opened = addPendingDeliveries(record, { kind: 'digest', sequence: 0 }, { keys, isWhole: true, nowMs })
  return keys.reduce(
    (before, key) =>
      updateTargetDelivery(before, key, (known) => (known.taken.length === 0 ? { ...known, digest } : known)),
    opened,
  )
}

/** Returns the record of an episode after its digest ended at one target. */
export const endDigest = (record: DeliveryRecord, key: string, isDelivered: boolean): DeliveryRecord =>
  updateTargetDelivery(record, key, (known) => ({
    ...(isDelivered && known.taken.length === 0 ? addReceived(known, 0) : known),
    digest: null,
    ...changeIfLatest(known, 0, { state: isDelivered ? 'sent' : 'dead' }),
  }))

/** Returns whether any target has an unfinished notification, which a later one must supersede first. */
export const hasUnfinishedDelivery = ({ recipients }: DeliveryRecord): boolean =>
  Object.values(recipients).some((recipient) => !isDeliveryFinished(recipient))

/** Returns whether the latest notification needs no further send and none is in progress. */
export const isDeliveryFinished = (recipient: TargetDelivery): boolean =>
  recipient.sending === null && (recipient.state === 'sent' || isUndelivered(recipient))

/** Returns whether the latest notification ended undelivered. */
export const isUndelivered = ({ state }: TargetDelivery): boolean => state === 'dead' || state === 'dropped'

/** Returns the targets to which this notification or a later one is addressed. */
export const listAddressedTargets = ({ recipients }: DeliveryRecord, { sequence }: NotificationKey): string[] =>
  Object.keys(recipients).filter((key) => (recipients[key]?.sequence ?? -1) >= sequence)

const maxTaken = 8

const addReceived = (known: TargetDelivery, sequence: number): TargetDelivery => {
  const taken = [...new Set([...known.taken, sequence])].toSorted((one, other) => one - other)
  return { ...known, taken: taken.slice(-maxTaken) }
}

const changeIfLatest = (
  known: TargetDelivery,
  sequence: number,
  changed: Partial<TargetDelivery>,
): Partial<TargetDelivery> => (known.sequence === sequence ? changed : {})

const updateTargetDelivery = (
  record: DeliveryRecord,
  key: string,
  to: (known: TargetDelivery) => TargetDelivery,
): DeliveryRecord => {
  const known = record.recipients[key]
  return known === undefined ? record : { ...record, recipients: { ...record.recipients, [key]: to(known) } }
}
