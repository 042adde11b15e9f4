import { asMessage, type Notice } from '../notice.ts'
import type { Happening } from '../conditions/episode.ts'
import type { Fence, Store } from '#shared/store/store.ts'
import type { Parts } from '../parts.ts'
import { pruned } from './entry.ts'
import type { EventEpisode } from './event-episode.ts'
import { EventIndex, EventRecord, type Summary, indexKey, recordKey, summaryOf } from './record.ts'
import { type ToldEntry, tellEntry } from './tell-entry.ts'

/** What stores and history the events are written to. */
export type Writing = Pick<
  Parts,
  'store' | 'clock' | 'policy' | 'episodes' | 'eventEpisodes' | 'isLasting' | 'observe' | 'telemetry'
>

/**
 * Changes a record in one step together with what is to be told of it; `change` gives the entries as they are to be told. Then
 * brings the index and the history up to date.
 */
export const writeRecord = async (
  { store, clock, policy: current, episodes, eventEpisodes, observe, telemetry: { log } }: Writing,
  name: string,
  change: (entries: EventRecord['entries'], nowMs: number) => EventRecord['entries'],
  fence?: Fence,
): Promise<void> => {
  const [policy, nowMs] = [await current(), clock.now()]
  let notices: Notice[] = []
  let happenings: Happening[] = []
  let kept: EventEpisode[] = []
  const record = await store.update(
    recordKey(name),
    EventRecord,
    (before) => {
      const told = Object.entries(change(before?.entries ?? {}, nowMs)).map(([id, entry]): [string, ToldEntry] => [
        id,
        tellEntry(entry, { policy, nowMs }),
      ])
      notices = told.flatMap(([, { notices }]) => notices)
      happenings = told.flatMap(([, { happenings }]) => happenings)
      kept = told.flatMap(([place, { episodes }]) => episodes.map((episode) => ({ ...episode, place })))
      const entries = pruned(Object.fromEntries(told.map(([id, { entry }]) => [id, entry])), nowMs)
      const isEmpty = Object.keys(entries).length === 0
      return { value: isEmpty ? undefined : { entries }, outbox: notices.map(asMessage) }
    },
    fence,
  )
  await writeIndex(store, name, record)
  observe.told({ notices, happenings })
  if (happenings.length === 0) return
  await Promise.all([episodes.write([], happenings), eventEpisodes.write(kept)]).catch((error: unknown) =>
    log.warn({ err: error }, 'the history of inbound events could not be kept'),
  )
}

const indexTries = 5

/** Until the index says what the record holds: whoever writes both at the same time may have come in between. */
export const writeIndex = async (store: Store, name: string, record: EventRecord | undefined): Promise<void> => {
  const written = summaryOf(record)
  const known = (await store.get(indexKey, EventIndex))?.[name]
  if (isSame(known ?? summaryOf(undefined), written)) return
  let fresh = written
  for (let attempt = 0; attempt < indexTries; attempt += 1) {
    await store.update(indexKey, EventIndex, (before = {}) => {
      const { [name]: _old, ...others } = before
      return { value: fresh.entries === 0 ? others : { ...others, [name]: fresh } }
    })
    const now = summaryOf(await store.get(recordKey(name), EventRecord))
    if (isSame(now, fresh)) return
    fresh = now
  }
}

const isSame = (one: Summary, other: Summary): boolean => one.open === other.open && one.entries === other.entries
