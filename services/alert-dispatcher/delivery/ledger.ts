import { z } from 'zod'
import type { SendResult } from '../channels/channel.ts'
import type { Notice } from '../notice.ts'

/** What one target knows of one episode. */
export const Known = z.object({
  /** The latest notice that is meant for it, and whether that is the recovery. */
  latest: z.int().min(0),
  ends: z.boolean(),
  /** The latest notice that it took; null while it took none. */
  told: z.int().min(0).nullable(),
  /** The last few that it took: one of them may come again for its record when a later one has been told. */
  lately: z.array(z.int().min(0)).default([]),
  /** A send to it had no known end, so it may know of the fire. */
  mayKnow: z.boolean(),
  /** Sends of the latest notice that failed, before it took it or gave up. */
  failures: z.int().min(0),
  /** The digest that is to tell it; null when none is under way. */
  digest: z.string().max(160).nullable(),
})
export type Known = z.infer<typeof Known>

/** Who is told of one episode and what each of them knows, by `targetKey`; kept under `ledgerKey`. */
export const Ledger = z.object({ targets: z.record(z.string().max(130), Known) })
export type Ledger = z.infer<typeof Ledger>

export const ledgerKey = (episode: string): string => `alerts:told:${episode}`

/** Reminders of a condition that nobody mends come for as long as this. */
export const ledgerMs = 90 * 24 * 3_600_000

export const targetKey = ({ channel, target }: { channel: string; target: string }): string => `${channel}:${target}`

type Meant = Pick<Notice, 'kind' | 'sequence'>

/** The ledger once a notice is meant for these targets; the same notice again changes nothing. */
export const meanFor = (ledger: Ledger | undefined, keys: readonly string[], { kind, sequence }: Meant): Ledger => {
  const targets = { ...ledger?.targets }
  for (const key of keys) {
    const known = targets[key]
    if (known && known.latest >= sequence) continue
    targets[key] = { ...(known ?? unknown), latest: sequence, ends: kind === 'recover', failures: 0 }
  }
  return { targets }
}

/** More are not told of one episode in the time that a record is tried for. */
const mostLately = 8

/** Whether the target took this very notice. */
const wasTold = ({ told, lately }: Known, sequence: number): boolean => told === sequence || lately.includes(sequence)

/** After how many failures the target took a notice; undefined while it did not. Failures are counted of the latest alone. */
export const toldAfter = (known: Known | undefined, sequence: number): number | undefined => {
  if (!known || !wasTold(known, sequence)) return undefined
  return known.latest === sequence ? known.failures : 0
}

const unknown: Known = { latest: 0, ends: false, told: null, lately: [], mayKnow: false, failures: 0, digest: null }

/** The ledger of an episode that a digest is to tell to these targets. */
export const gatherFor = (ledger: Ledger | undefined, keys: readonly string[], digest: string): Ledger => {
  const { targets } = meanFor(ledger, keys, { kind: 'digest', sequence: 0 })
  return { targets: mapKnown(targets, keys, (known) => (known.told === null ? { ...known, digest } : known)) }
}

/** The ledger of an episode once its digest came to an end at one target. */
export const digestEnded = (ledger: Ledger | undefined, key: string, isTold: boolean): Ledger => ({
  targets: mapKnown(ledger?.targets ?? {}, [key], (known) => ({
    ...known,
    digest: null,
    told: isTold ? (known.told ?? 0) : known.told,
  })),
})

/** What is to be done with a notice for one target, decided immediately before it would be sent. */
export type Standing = 'send' | 'told' | 'wait' | { drop: string }

/** Judges a notice by what its target knows; without a ledger it is sent, for to be told twice is better than never. */
export const standingOf = (known: Known | undefined, { kind, sequence }: Meant): Standing => {
  if (known === undefined) return 'send'
  if (wasTold(known, sequence)) return 'told'
  if (known.latest > sequence)
    return { drop: known.ends ? 'it recovered before it could be told' : 'a later notice says more' }
  if (kind !== 'recover' || known.told !== null || known.mayKnow) return 'send'
  return known.digest === null ? { drop: 'it was never told of what has recovered' } : 'wait'
}

/** The ledger after a send. */
export const sent = (
  ledger: Ledger | undefined,
  key: string,
  { kind, sequence }: Meant,
  result: SendResult,
): Ledger => {
  const { targets } = meanFor(ledger, [key], { kind, sequence })
  return {
    targets: mapKnown(targets, [key], (known) => {
      if (result.kind === 'ok') {
        const lately = [...new Set([...known.lately, sequence])].slice(-mostLately)
        return { ...known, told: Math.max(known.told ?? 0, sequence), lately }
      }
      const mayKnow = known.mayKnow || (result.kind === 'retry' && result.mayHaveArrived === true)
      return { ...known, mayKnow, failures: known.latest === sequence ? known.failures + 1 : known.failures }
    }),
  }
}

/** The ledger once it was found that a send had no end. */
export const cutOff = (ledger: Ledger | undefined, key: string): Ledger => ({
  targets: mapKnown(ledger?.targets ?? {}, [key], (known) => ({ ...known, mayKnow: true })),
})

const mapKnown = (
  targets: Ledger['targets'],
  keys: readonly string[],
  change: (known: Known) => Known,
): Ledger['targets'] => {
  const changed = { ...targets }
  for (const key of keys) {
    const known = changed[key]
    if (known) changed[key] = change(known)
  }
  return changed
}
