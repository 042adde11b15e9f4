import { LRUCache } from 'lru-cache'
import type { Counted, Counters } from '../counters.ts'

/** Of what a window still allows a process takes this part at once, so each of the others may find as much less. */
const blockShare = 1 / 1_000
/** Keys whose blocks are remembered; what is left of a forgotten one stays unused. */
const maxBlocks = 10_000

/** Counts that this process has taken from the server together, and tells one by one. */
interface Block {
  told: number
  last: number
  endsAtMs: number
}

/** Counts several at once; says how many there are then. */
type Take = (key: string, often: number, seconds: number) => Promise<Counted>

/**
 * Asks the server for each count where few are left of what is allowed, and for many together where that is far away. No two are
 * told the same count, so no more are let through than are allowed.
 */
export const countInBlocks = (take: Take): Counters['count'] => {
  const blocks = new LRUCache<string, Block>({ max: maxBlocks })

  const taken = async (key: string, often: number, seconds: number, allowed: number): Promise<Counted> => {
    const { count: last, endsInMs } = await take(key, often, seconds)
    const told = last - often + 1
    // Those who came while a block was on its way are counted one by one, and must not put theirs in its place.
    const isNeeded = often > 1 || (blockAfter(last, allowed) > 1 && !blocks.has(key))
    if (isNeeded) blocks.set(key, { told, last, endsAtMs: performance.now() + endsInMs })
    return { count: told, endsInMs }
  }

  return (what, subject, seconds, allowed = 0) => {
    const key = `${what}:${subject}`
    const block = blocks.get(key)
    const leftMs = block === undefined ? 0 : block.endsAtMs - performance.now()
    if (block === undefined || leftMs <= 0) {
      blocks.delete(key)
      return taken(key, 1, seconds, allowed)
    }
    if (block.told < block.last) {
      block.told += 1
      return { count: block.told, endsInMs: leftMs }
    }
    blocks.delete(key)
    return taken(key, blockAfter(block.last, allowed), seconds, allowed)
  }
}

const blockAfter = (count: number, allowed: number): number => Math.max(1, Math.floor((allowed - count) * blockShare))
