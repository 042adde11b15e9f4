import { hash } from 'node:crypto'
import { z } from 'zod'
import { inBatches } from '#shared/bus/durable/in-batches.ts'
import { type Clock, ageMs, instant } from '#shared/clock.ts'
import type { Store } from '#shared/store/store.ts'

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
