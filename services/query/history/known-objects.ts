import { z } from 'zod'
import type { HistoryRow, HistoryStore } from './store.ts'

/** Rows of unchanged objects are repeated before the retention of the oldest rows ends. */
const refreshSeconds = 30 * 86_400
const weekSeconds = 7 * 86_400
/** Epoch seconds of the first Monday. Partitions of the history begin on Mondays. */
const firstMonday = 4 * 86_400

/** Definitions by kind and name. */
export type Objects = ReadonlyMap<string, ObjectState>

/** The definition of an object, and when it changed in epoch seconds of the host, if that is known. */
export interface ObjectState {
  definition: string
  changedAt?: number | undefined
}

/** Returns the key of an object. The object without a name marks the first snapshot of a kind. */
export const objectKey = (kind: string, name: string): string => JSON.stringify([kind, name])

const KnownObject = z.object({
  kind: z.string(),
  name: z.string(),
  last: z.string(),
  removed: z.number(),
  at: z.number(),
})
export type KnownObject = z.infer<typeof KnownObject>

/** Returns the last recorded state of the objects of these kinds, by key. */
export const readKnownObjects = async (
  history: HistoryStore,
  host: string,
  kinds: readonly string[],
): Promise<ReadonlyMap<string, KnownObject>> => {
  const rows = await history.select(
    `SELECT kind, name, argMax(definition, time) AS last, argMax(is_removed, time) AS removed, toUnixTimestamp(max(time)) AS at
FROM {table:objects} WHERE host = {host:String} AND kind IN {kinds:Array(String)} GROUP BY kind, name`,
    KnownObject,
    { host, kinds },
  )
  return new Map(rows.map((row) => [objectKey(row.kind, row.name), row]))
}

interface Comparison {
  objects: Objects
  known: ReadonlyMap<string, KnownObject>
  /** When a known object was removed, in epoch seconds; undefined if it was not. */
  removedAt(object: KnownObject): number | undefined
  now: number
}

/** Returns the rows of new, changed and removed objects. */
export const compareObjects = ({ objects, known, removedAt, now }: Comparison): HistoryRow[] => {
  const written = [...objects].flatMap(([key, { definition, changedAt }]) => {
    const last = known.get(key)
    const isSame = last !== undefined && last.removed === 0 && last.last === definition
    if (isSame && now - last.at < refreshSeconds) return []
    const [kind, name]: unknown[] = JSON.parse(key)
    return [{ kind, name, time: isSame ? now : placeChange(changedAt, last, now), definition, is_removed: 0 }]
  })
  const removed = [...known].flatMap(([key, object]) => {
    const at = object.removed || objects.has(key) ? undefined : removedAt(object)
    const { kind, name } = object
    return at === undefined ? [] : [{ kind, name, time: placeChange(at, object, now), definition: '', is_removed: 1 }]
  })
  return [...written, ...removed]
}

/** Returns the time of a change: after the last row of the object, and in the same partition as the snapshot. */
const placeChange = (changedAt: number | undefined, last: KnownObject | undefined, now: number): number => {
  const monday = now - ((now - firstMonday) % weekSeconds)
  const isUsable = changedAt !== undefined && changedAt <= now && changedAt >= monday && changedAt > (last?.at ?? 0)
  return isUsable ? changedAt : now
}
