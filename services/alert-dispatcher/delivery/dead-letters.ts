import { hash } from 'node:crypto'
import { z } from 'zod'
import type { DeadNotice } from '#proto/delivery.ts'
import type { OutboxMessage, Store } from '#shared/store/store.ts'
import { Addressed, deliveryIdOf } from '../notice.ts'

/** Ids of letters by what they are about, the delivery of one notice to one target. */
const Letters = z.record(z.string().max(300), z.int().positive())

const Letter = Addressed.extend({ atMs: z.int(), reason: z.string() })

/** A list is written whole, so there are several. */
const lists = 16
/** Of each list; the oldest are forgotten. */
const mostInList = 500
const letterMs = 30 * 24 * 3_600_000
const listKey = (list: number): string => `alerts:dead:${list}`
const letterKey = (id: string): string => `alerts:dead:letter:${id}`

/** Notifications that were given up, in the state store: sent again when an operator asks for it, and forgotten after 30 days. */
export interface DeadLetters {
  /** The same notice for the same target again stays the same letter. */
  put(dead: readonly { addressed: Addressed; reason: string }[], atMs: number): Promise<void>
  /** The newest first, before the letter of the id `before` where one is given; `next` continues and is null at the end. */
  list(page: { limit: number; before?: string | undefined }): Promise<{ letters: Dead[]; next: string | null }>
  get(id: string): Promise<Dead | undefined>
  /** Removes a letter in one write with the message that sends it again. */
  remove(id: string, message: OutboxMessage): Promise<void>
}

/** A letter as people may see it, and what it holds. */
export interface Dead {
  addressed: Addressed
  shown: DeadNotice
}

export const openDeadLetters = (store: Store): DeadLetters => {
  const readAll = async (ids: readonly number[]): Promise<Dead[]> => {
    const letters = await store.getAll(
      ids.map((id) => letterKey(String(id))),
      Letter,
    )
    return ids.flatMap((id, index) => {
      const letter = letters[index]
      return letter ? [deadOf(String(id), letter)] : []
    })
  }
  return {
    async put(dead, atMs) {
      const many = new Map<string, z.infer<typeof Letter>>()
      const byList = Map.groupBy(dead, ({ addressed }) => listOf(deliveryIdOf(addressed)))
      const putInList = async ([list, some]: [number, typeof dead]) => {
        const ids = await listAll(
          store,
          list,
          some.map(({ addressed }) => deliveryIdOf(addressed)),
          atMs,
        )
        for (const [index, { addressed, reason }] of some.entries())
          many.set(letterKey(String(ids[index])), { ...addressed, atMs, reason })
      }
      await Promise.all([...byList].map(putInList))
      if (many.size === 0) return
      const keys = [...many.keys()]
      await store.updateTogether({ many: { keys, schema: Letter } }, () => ({ many, expiresInMs: letterMs }))
    },
    async list({ limit, before = String(Number.MAX_SAFE_INTEGER) }) {
      const all = await store.getAll(
        Array.from({ length: lists }, (_, list) => listKey(list)),
        Letters,
      )
      const ids = all.flatMap((letters = {}) => Object.values(letters)).filter((id) => id < Number(before))
      const page = ids.toSorted((one, other) => other - one).slice(0, limit)
      return { letters: await readAll(page), next: ids.length > page.length ? String(page.at(-1)) : null }
    },
    get: async (id) => (await readAll([Number(id)]))[0],
    async remove(id, message) {
      await store.update(letterKey(id), Letter, (before) => before && { value: undefined, outbox: [message] })
      await store.update(listKey(Number(id) % lists), Letters, (before = {}) => {
        const value = Object.fromEntries(Object.entries(before).filter(([, each]) => each !== Number(id)))
        return { value: Object.keys(value).length === 0 ? undefined : value }
      })
    },
  }
}

/** Puts letters into their list by what they are about; returns their ids. */
const listAll = async (store: Store, list: number, about: readonly string[], atMs: number): Promise<number[]> => {
  let ids: number[] = []
  await store.update(listKey(list), Letters, (before = {}) => {
    const listed = { ...before }
    const taken = new Set(Object.values(before))
    ids = about.map((each) => {
      const id = listed[each] ?? freeId(list, atMs, taken)
      taken.add(id)
      return (listed[each] = id)
    })
    const all = Object.entries(listed).toSorted(([, one], [, other]) => other - one)
    return { value: Object.fromEntries(all.slice(0, mostInList)) }
  })
  return ids
}

const listOf = (about: string): number => Number.parseInt(hash('sha256', about).slice(0, 2), 16) % lists

/** Grows with time, names its list by what is left of a division, and has at most 15 digits. */
const freeId = (list: number, atMs: number, taken: ReadonlySet<number>): number => {
  let id = Math.floor((atMs * 100) / lists) * lists + list
  while (taken.has(id)) id += lists
  return id
}

const deadOf = (id: string, { atMs, reason, ...addressed }: z.infer<typeof Letter>): Dead => {
  const { notice, channel, target } = addressed
  const { kind, title, hostKey, severity, episode } = notice
  return { addressed, shown: { id, atMs, reason, channel, target, kind, title, hostKey, severity, episode } }
}
