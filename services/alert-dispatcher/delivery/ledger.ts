import { hash } from 'node:crypto'
import { z } from 'zod'
import { inBatches } from '#shared/bus/durable/in-batches.ts'
import { type Clock, ageMs, instant } from '#shared/time/clock.ts'
import type { Store } from '#shared/store/store.ts'
import type { SendResult } from '../channels/channel.ts'
import { Notice } from '../notice.ts'

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
  /** The latest notice that was given up; null while none was. */
  givenUp: z.int().min(0).nullable().default(null),
})
export type Known = z.infer<typeof Known>

/** Who is told of one episode and what each of them knows, by `targetKey`; kept under `ledgerKey`. */
export const Ledger = z.object({
  targets: z.record(z.string().max(130), Known),
  /** The latest notice while a target has yet to take it: a queue that lost it is given it again. */
  notice: Notice.optional(),
  /** False where the ledger was lost and only holds what was sent since. */
  isWhole: z.boolean().default(false),
})
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
  return { ...(ledger ?? lost), targets }
}

const lost: Ledger = { targets: {}, isWhole: false }

/** A ledger that keeps the notice until all of its targets took it. The first notice of an episode begins a whole ledger. */
export const keepNotice = (meant: Ledger, notice: Notice): Ledger => {
  const isLatest = (meant.notice?.sequence ?? 0) <= notice.sequence
  const isWhole = meant.isWhole || notice.sequence === 0
  return withoutEnded({ ...meant, isWhole, ...(isLatest && { notice }) })
}

/** Targets that have yet to take the notice that the ledger keeps. */
export const waitingIn = ({ targets, notice }: Ledger): string[] => {
  if (notice === undefined) return []
  const isWaiting = (known: Known) => {
    if (known.latest !== notice.sequence || known.givenUp === notice.sequence) return false
    const standing = standingOf(known, notice)
    // What a digest tells is kept in the ledger of the digest.
    return standing === 'wait' || (standing === 'send' && known.digest === null)
  }
  return Object.keys(targets).filter((key) => targets[key] && isWaiting(targets[key]))
}

/** A notice that nobody waits for any more is not kept. */
const withoutEnded = (ledger: Ledger): Ledger => {
  if (ledger.notice === undefined || waitingIn(ledger).length > 0) return ledger
  const { notice: _, ...rest } = ledger
  return rest
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

const unknown: Known = {
  latest: 0,
  ends: false,
  told: null,
  lately: [],
  mayKnow: false,
  failures: 0,
  digest: null,
  givenUp: null,
}

/** The ledger of an episode that a digest is to tell to these targets. */
export const gatherFor = (ledger: Ledger | undefined, keys: readonly string[], digest: string): Ledger => {
  const meant = meanFor(ledger, keys, { kind: 'digest', sequence: 0 })
  return mapKnown({ ...meant, isWhole: true }, keys, (known) => (known.told === null ? { ...known, digest } : known))
}

/** The ledger of an episode once its digest came to an end at one target. */
export const digestEnded = (ledger: Ledger, key: string, isTold: boolean): Ledger =>
  mapKnown(ledger, [key], (known) => ({
    ...known,
    digest: null,
    ...(isTold ? { told: known.told ?? 0 } : { givenUp: known.givenUp ?? 0 }),
  }))

/** The ledger once a notice was given up for a target. */
export const gaveUp = (ledger: Ledger, key: string, sequence: number): Ledger =>
  mapKnown(ledger, [key], (known) => ({ ...known, givenUp: Math.max(known.givenUp ?? 0, sequence) }))

/** What is to be done with a notice for one target, decided immediately before it would be sent. */
type Standing = 'send' | 'told' | 'wait' | { drop: string }

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
  return mapKnown(meanFor(ledger, [key], { kind, sequence }), [key], (known) => {
    if (result.kind === 'ok') {
      const lately = [...new Set([...known.lately, sequence])].slice(-mostLately)
      return { ...known, told: Math.max(known.told ?? 0, sequence), lately }
    }
    const mayKnow = known.mayKnow || (result.kind === 'retry' && result.mayHaveArrived === true)
    return { ...known, mayKnow, failures: known.latest === sequence ? known.failures + 1 : known.failures }
  })
}

/** The ledger once it was found that a send had no end. */
export const cutOff = (ledger: Ledger, key: string): Ledger =>
  mapKnown(ledger, [key], (known) => ({ ...known, mayKnow: true }))

const mapKnown = (ledger: Ledger, keys: readonly string[], change: (known: Known) => Known): Ledger => {
  const targets = { ...ledger.targets }
  for (const key of keys) {
    const known = targets[key]
    if (known) targets[key] = change(known)
  }
  return withoutEnded({ ...ledger, targets })
}

/** By episode, when it was added or last found to have a target that waits; epoch milliseconds. */
const Episodes = z.record(z.string().max(160), z.number())
type Episodes = z.infer<typeof Episodes>

/** A list is written whole, so there are several. */
const lists = 16
const keyOf = (list: number): string => `alerts:waiting:${list}`
const listOf = (episode: string): number => Number.parseInt(hash('sha256', episode).slice(0, 2), 16) % lists

/** An episode on a list is examined after this long, and then again after this long. */
export const examineAfterMs = 60_000
/** An episode that is added again within this time stays as it is. */
const freshMs = examineAfterMs / 2

/** The episodes that may have a target that has yet to take a notice, as all dispatchers know them. */
export interface WaitingEpisodes {
  /** Resolves once the episode is on its list. */
  add(episode: string): Promise<void>
  /** Examines the episodes that are due, or all of them; those of which `isWaiting` is false leave their list. */
  examine(which: 'due' | 'all', isWaiting: (episode: string, isDue: boolean) => Promise<boolean>): Promise<void>
}

/** Opens the lists; what this process adds at the same time is written together. */
export const openWaitingEpisodes = (store: Store, clock: Clock): WaitingEpisodes => {
  // One that is younger than nothing was stored before the clock was set back.
  const isOlder = (atMs: number, ms: number) => Math.abs(ageMs(clock, atMs)) >= ms
  const { write } = inBatches<string>(async (added) => {
    const byList = Map.groupBy(new Set(added), listOf)
    await Promise.all([...byList].map(([list, episodes]) => addTo(list, episodes)))
  })
  const addTo = (list: number, episodes: readonly string[]) =>
    store.update(keyOf(list), Episodes, (before = {}) => {
      const isFresh = (atMs: number | undefined) => atMs !== undefined && !isOlder(atMs, freshMs)
      const missing = episodes.filter((episode) => !isFresh(before[episode]))
      if (missing.length === 0) return undefined
      const nowMs = instant(clock)
      return { value: { ...before, ...Object.fromEntries(missing.map((episode) => [episode, nowMs])) } }
    })
  return {
    add: write,
    async examine(which, isWaiting) {
      for (let list = 0; list < lists; list += 1) {
        const listed = (await store.get(keyOf(list), Episodes)) ?? {}
        const due = new Map<string, boolean>()
        for (const [episode, atMs] of Object.entries(listed)) {
          const isDue = isOlder(atMs, examineAfterMs)
          if (!isDue && which === 'due') continue
          const waits = await isWaiting(episode, isDue)
          // Whoever added it a moment ago may not have written its ledger yet.
          if (isDue) due.set(episode, waits)
        }
        if (due.size > 0)
          await store.update(keyOf(list), Episodes, (before) => afterExamining(before ?? {}, listed, due))
      }
    },
  }

  function afterExamining(before: Episodes, listed: Episodes, due: ReadonlyMap<string, boolean>) {
    const nowMs = instant(clock)
    const after = Object.entries(before).flatMap(([episode, atMs]) => {
      const waits = atMs === listed[episode] ? due.get(episode) : undefined
      if (waits === undefined) return [[episode, atMs] as const]
      return waits ? [[episode, nowMs] as const] : []
    })
    return { value: after.length === 0 ? undefined : Object.fromEntries(after) }
  }
}
