import { hash } from 'node:crypto'
import { z } from 'zod'
import type { DeadLetterNotification } from '#proto/delivery.ts'
import type { OutboxMessage, Store } from '#shared/store/store.ts'
import { AddressedNotification, getDeliveryId } from '../notification.ts'

/** Ids of dead letters by delivery id. */
const Letters = z.record(z.string().max(300), z.int().positive())

const Letter = AddressedNotification.extend({ atMs: z.int(), reason: z.string() })

/** Number of lists. Each list is written as a whole, so several lists keep the writes small. */
const listCount = 16
/** Maximum length of a list; the oldest letters are dropped. */
const maxListLength = 500
const letterTtlMs = 30 * 24 * 3_600_000
const listKey = (list: number): string => `alerts:dead:${list}`
const letterKey = (id: string): string => `alerts:dead:letter:${id}`

/** Notifications that could not be delivered, stored for 30 days. Operators can resend them. */
export interface DeadLetters {
  /** Adds dead letters. A notification that already has a dead letter for the same target keeps its id. */
  put(dead: readonly { addressed: AddressedNotification; reason: string }[], atMs: number): Promise<void>
  /**
   * Returns letters, newest first; with `before`, only letters older than that one. `next` is the id for the next page,
   * or null at the end.
   */
  list(page: { limit: number; before?: string | undefined }): Promise<{ letters: DeadLetter[]; next: string | null }>
  get(id: string): Promise<DeadLetter | undefined>
  /** Removes a letter and appends the message that resends it in the same write. */
  remove(id: string, message: OutboxMessage): Promise<void>
}

/** A dead letter: the addressed notification, and the form that the API returns. */
export interface DeadLetter {
  addressed: AddressedNotification
  shown: DeadLetterNotification
}

export const openDeadLetters = (store: Store): DeadLetters => {
  const readAll = async (ids: readonly number[]): Promise<DeadLetter[]> => {
    const letters = await store.getAll(
      ids.map((id) => letterKey(String(id))),
      Letter,
    )
    return ids.flatMap((id, index) => {
      const letter = letters[index]
      return letter ? [toDeadLetter(String(id), letter)] : []
    })
  }
  return {
    async put(dead, atMs) {
      const many = new Map<string, z.infer<typeof Letter>>()
      const byList = Map.groupBy(dead, ({ addressed }) => selectList(getDeliveryId(addressed)))
      const putInList = async ([list, some]: [number, typeof dead]) => {
        const ids = await addToList(
          store,
          list,
          some.map(({ addressed }) => getDeliveryId(addressed)),
          atMs,
        )
        for (const [index, { addressed, reason }] of some.entries())
          many.set(letterKey(String(ids[index])), { ...addressed, atMs, reason })
      }
      await Promise.all([...byList].map(putInList))
      if (many.size === 0) return
      const keys = [...many.keys()]
      await store.updateTogether({ many: { keys, schema: Letter } }, () => ({ many, expiresInMs: letterTtlMs }))
    },
    async list({ limit, before = String(Number.MAX_SAFE_INTEGER) }) {
      const all = await store.getAll(
        Array.from({ length: listCount }, (_, list) => listKey(list)),
        Letters,
      )
      const ids = all.flatMap((letters = {}) => Object.values(letters)).filter((id) => id < Number(before))
      const page = ids.toSorted((one, other) => other - one).slice(0, limit)
      return { letters: await readAll(page), next: ids.length > page.length ? String(page.at(-1)) : null }
    },
    get: async (id) => (await readAll([Number(id)]))[0],
    async remove(id, message) {
      await store.update(letterKey(id), Letter, (before) => before && { value: undefined, outbox: [message] })
      await store.update(listKey(Number(id) % listCount), Letters, (before = {}) => {
        const value = Object.fromEntries(Object.entries(before).filter(([, each]) => each !== Number(id)))
        return { value: Object.keys(value).length === 0 ? undefined : value }
      })
    },
  }
}

/** Adds deliveries to a list and returns the ids of their dead letters; deliveries in the list keep their id. */
const addToList = async (store: Store, list: number, about: readonly string[], atMs: number): Promise<number[]> => {
  let ids: number[] = []
  await store.update(listKey(list), Letters, (before = {}) => {
    const listed = { ...before }
    const usedIds = new Set(Object.values(before))
    ids = about.map((each) => {
      const id = listed[each] ?? findFreeId(list, atMs, usedIds)
      usedIds.add(id)
      return (listed[each] = id)
    })
    const all = Object.entries(listed).toSorted(([, one], [, other]) => other - one)
    return { value: Object.fromEntries(all.slice(0, maxListLength)) }
  })
  return ids
}

const selectList = (about: string): number => Number.parseInt(hash('sha256', about).slice(0, 2), 16) % listCount

/** Returns an unused id of at most 15 digits. Ids increase with time, and id modulo `listCount` is the list. */
const findFreeId = (list: number, atMs: number, usedIds: ReadonlySet<number>): number => {
  let id = Math.floor((atMs * 100) / listCount) * listCount + list
  while (usedIds.has(id)) id += listCount
  return id
}

const toDeadLetter = (id: string, { atMs, reason, ...addressed }: z.infer<typeof Letter>): DeadLetter => {
  const { notification, channel, target } = addressed
  const { kind, title, hostKey, severity, episode } = notification
  return { addressed, shown: { id, atMs, reason, channel, target, kind, title, hostKey, severity, episode } }
}
