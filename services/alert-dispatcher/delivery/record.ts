import { z } from 'zod'
import type { SendResult } from '../channels/channel.ts'
import type { Notice } from '../notice.ts'

/** What one target is to hear of an episode, and how far that is. */
export const Recipient = z.object({
  /** The latest notice that is meant for it. */
  sequence: z.int().min(0),
  /** Of that notice, and why it is `dead` or `dropped`. */
  state: z.enum(['pending', 'sending', 'sent', 'retry', 'dead', 'dropped']),
  reason: z.string().max(600).nullable(),
  /** Sends of that notice that failed. */
  attempts: z.int().min(0),
  /** Epoch milliseconds from which the life of that notice counts. */
  sinceMs: z.number(),
  /** The notice that is being sent, perhaps an earlier one; null while none is. */
  sending: z.int().min(0).nullable(),
  /** The last few notices that it took: one of them may come again for its record. */
  taken: z.array(z.int().min(0)).max(8),
  /** A send to it had no known end, so it may know of the fire. */
  mayKnow: z.boolean(),
  /** The digest that is to tell it the fire; null when none is under way. */
  digest: z.string().max(160).nullable(),
})
export type Recipient = z.infer<typeof Recipient>

/** The delivery of one episode to each of its targets, by `targetKey`; kept under `recordKey`. */
export const DeliveryRecord = z.object({
  recipients: z.record(z.string().max(130), Recipient),
  /** The sequence of the recovery, once that is to be delivered. */
  endedBy: z.int().min(0).nullable(),
  /** False where the store lost what was before: others may know of the episode. */
  isWhole: z.boolean(),
})
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

export const recordKey = (episode: string): string => `alerts:delivery:${episode}`

/** Reminders of a condition that nobody mends come for as long as this. */
export const recordMs = 90 * 24 * 3_600_000

export const targetKey = ({ channel, target }: { channel: string; target: string }): string => `${channel}:${target}`

type Meant = Pick<Notice, 'kind' | 'sequence'>

/** Who is to get a notice. */
export interface Opening {
  keys: readonly string[]
  /** Targets that took a notice of the episode before the store lost its record, and which. */
  told?: readonly { key: string; sequence: number }[]
  /** Each of the keys may know of the fire: nothing says who does. */
  mayKnow?: boolean
  /** Whether nothing of the episode can have been sent before, or all of it is in the record. */
  isWhole: boolean
  /** A notice that was given up is to be sent again. */
  isReplay?: boolean
  nowMs: number
}

/** The record once a notice is to be delivered: what is earlier is old from now on. The same notice again changes nothing. */
export const open = (
  record: DeliveryRecord | undefined,
  { kind, sequence }: Meant,
  opening: Opening,
): DeliveryRecord => {
  const { keys, told = [], mayKnow = false, isWhole, isReplay = false, nowMs } = opening
  const before = record ?? { recipients: {}, endedBy: null, isWhole }
  const recipients = { ...before.recipients }
  for (const { key, sequence: taken } of told) {
    const known = recipients[key] ?? { ...unknown, sequence: taken, state: 'sent', sinceMs: nowMs }
    recipients[key] = tookOf(known, taken)
  }
  // Whoever was to hear of the fire takes part in its end, though it may only find that there is nothing to send.
  const all = kind === 'recover' ? new Set([...keys, ...Object.keys(recipients)]) : new Set(keys)
  for (const key of all) {
    const known = recipients[key] ?? { ...unknown, mayKnow }
    const isNew = recipients[key] === undefined || known.sequence < sequence
    const isAgain = isReplay && known.sequence === sequence && isGivenUp(known)
    if (isNew || isAgain)
      recipients[key] = { ...known, sequence, state: 'pending', reason: null, attempts: 0, sinceMs: nowMs }
  }
  return {
    ...before,
    recipients,
    endedBy: kind === 'recover' ? Math.max(before.endedBy ?? 0, sequence) : before.endedBy,
  }
}

const unknown: Recipient = {
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

/** What is to be done with a notice for one target: `wait` is for the digest that tells the fire, an end is one that it has or had. */
export type Standing = 'send' | 'wait' | 'sent' | { end: 'dead' | 'dropped'; reason: string | null }

/** Decides by what its target knows, in the write that begins the send. */
export const standingOf = (record: DeliveryRecord, key: string, { kind, sequence }: Meant): Standing => {
  const { recipients, endedBy } = record
  const known = recipients[key]
  if (known?.taken.includes(sequence)) return 'sent'
  if (endedBy !== null && endedBy > sequence) return drop('it recovered before it could be told')
  if (known === undefined) return 'send'
  if (known.sequence > sequence) return drop('a later notice says more')
  if (known.state === 'dead' || known.state === 'dropped') return { end: known.state, reason: known.reason }
  if (kind !== 'recover' || known.taken.length > 0 || known.mayKnow) return 'send'
  return known.digest === null ? drop('it was never told of what has recovered') : 'wait'
}

const drop = (reason: string): Standing => ({ end: 'dropped', reason })

/** A send that is recorded as under way and that nobody makes any more was cut off: its target may know. */
export const cutOff = (record: DeliveryRecord, key: string): DeliveryRecord =>
  change(record, key, (known) => (known.sending === null ? known : { ...known, sending: null, mayKnow: true }))

/** The record while a notice is being sent. */
export const begin = (record: DeliveryRecord, key: string, { sequence }: Meant): DeliveryRecord =>
  change(record, key, (known) => ({ ...known, sending: sequence, ...ifLatest(known, sequence, { state: 'sending' }) }))

/** The record after a send. `isOver`: no later try is made. */
export const end = (
  record: DeliveryRecord,
  key: string,
  { sequence }: Meant,
  { result, isOver }: { result: SendResult; isOver: boolean },
): DeliveryRecord =>
  change(record, key, (known) => {
    const ended = { ...known, sending: null }
    if (result.kind === 'ok') return { ...tookOf(ended, sequence), ...ifLatest(known, sequence, { state: 'sent' }) }
    const mayKnow = known.mayKnow || (result.kind === 'retry' && result.mayHaveArrived === true)
    const [state, reason] = isOver ? (['dead', result.reason] as const) : (['retry', null] as const)
    return { ...ended, mayKnow, ...ifLatest(known, sequence, { state, reason, attempts: known.attempts + 1 }) }
  })

/** The record after a send that was refused for what it was in a message with: it says nothing of the notice. */
export const withdrawSend = (record: DeliveryRecord, key: string, { sequence }: Meant): DeliveryRecord =>
  change(record, key, (known) => ({ ...known, sending: null, ...ifLatest(known, sequence, { state: 'pending' }) }))

/** The record once a notice ended without a send. */
export const giveUp = (
  record: DeliveryRecord,
  key: string,
  { sequence }: Meant,
  { state, reason }: Pick<Recipient, 'reason'> & { state: 'dead' | 'dropped' },
): DeliveryRecord => change(record, key, (known) => ({ ...known, ...ifLatest(known, sequence, { state, reason }) }))

/** The record of an episode whose fire a digest is to tell to these targets. */
export const gatherFor = (
  record: DeliveryRecord | undefined,
  keys: readonly string[],
  digest: string,
  nowMs: number,
): DeliveryRecord => {
  const opened = open(record, { kind: 'digest', sequence: 0 }, { keys, isWhole: true, nowMs })
  return keys.reduce(
    (before, key) => change(before, key, (known) => (known.taken.length === 0 ? { ...known, digest } : known)),
    opened,
  )
}

/** The record of an episode once its digest came to an end at one target. */
export const endDigest = (record: DeliveryRecord, key: string, isTold: boolean): DeliveryRecord =>
  change(record, key, (known) => ({
    ...(isTold && known.taken.length === 0 ? tookOf(known, 0) : known),
    digest: null,
    ...ifLatest(known, 0, { state: isTold ? 'sent' : 'dead' }),
  }))

/** Whether any target has yet to get an end for its latest notice: what is later must then make it old before anything is sent. */
export const isUnderWay = ({ recipients }: DeliveryRecord): boolean =>
  Object.values(recipients).some((recipient) => !isAtEnd(recipient))

/** Whether its latest notice needs nothing more, and no send is under way. */
export const isAtEnd = (recipient: Recipient): boolean =>
  recipient.sending === null && (recipient.state === 'sent' || isGivenUp(recipient))

/** Whether its latest notice ended without a send that succeeded. */
export const isGivenUp = ({ state }: Recipient): boolean => state === 'dead' || state === 'dropped'

/** Targets for which this notice or a later one was opened. */
export const openedFor = ({ recipients }: DeliveryRecord, { sequence }: Meant): string[] =>
  Object.keys(recipients).filter((key) => (recipients[key]?.sequence ?? -1) >= sequence)

const mostTaken = 8

const tookOf = (known: Recipient, sequence: number): Recipient => {
  const taken = [...new Set([...known.taken, sequence])].toSorted((one, other) => one - other)
  return { ...known, taken: taken.slice(-mostTaken) }
}

const ifLatest = (known: Recipient, sequence: number, changed: Partial<Recipient>): Partial<Recipient> =>
  known.sequence === sequence ? changed : {}

const change = (record: DeliveryRecord, key: string, to: (known: Recipient) => Recipient): DeliveryRecord => {
  const known = record.recipients[key]
  return known === undefined ? record : { ...record, recipients: { ...record.recipients, [key]: to(known) } }
}
