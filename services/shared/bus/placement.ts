import { LRUCache } from 'lru-cache'
import { limitEntries } from '../store/limit-entries.ts'
import { pickByHash, rankByHash } from './rendezvous.ts'

/** An instance may have this many times the mean number of requests in flight before others get its requests. */
const maxLoadFactor = 1.25
/** An instance may always have this many requests in flight, so that all requests for a host stay in one place at low load. */
const minAllowedInFlight = 4
/** How long a statement stays with an instance other than the preferred one, so that cached results are found again. */
const placedMs = 30_000
const maxPlaced = 4_096

/** The routing keys of a request. */
export interface PlacementKeys {
  /** Requests with equal values prefer the same instance. */
  preferred: string
  /** Equal for equal requests, which share one run of their statement; undefined if the request is never shared. */
  shared: string | undefined
}

/** The chosen instance of a request. */
export interface InstanceChoice {
  instance: string
  shared: string | undefined
}

/**
 * Chooses instances by consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam 2016). Requests for a
 * host go to the same instance until it has more than its share of the requests in flight. Further ones go to the others.
 * Equal requests meet at one instance: those in flight at the same time always, others unless it is overloaded.
 * Each process counts only its own requests, so nothing is coordinated.
 */
export class Placement {
  /** Requests in flight by instance. */
  readonly #inFlight = new Map<string, number>()
  /** The instance of each shared request in flight, and the number of these requests. */
  readonly #shared = new Map<string, { instance: string; count: number }>()
  /** The instances of recent requests that did not get the preferred one. */
  readonly #placed = new LRUCache<string, string>({ ...limitEntries(maxPlaced), ttl: placedMs, updateAgeOnGet: true })

  /** Returns the instance for a request. `names` must not be empty. */
  choose({ preferred, shared }: PlacementKeys, names: readonly string[]): InstanceChoice {
    const joined = shared === undefined ? undefined : this.#shared.get(shared)?.instance
    if (joined !== undefined && names.includes(joined)) return { instance: joined, shared }
    const maxInFlight = this.#allow(names)
    const hasRoom = (name: string): boolean => (this.#inFlight.get(name) ?? 0) < maxInFlight
    const placed = shared === undefined ? undefined : this.#placed.get(shared)
    if (placed !== undefined && names.includes(placed) && hasRoom(placed)) return { instance: placed, shared }
    const first = pickByHash(preferred, names) ?? ''
    if (hasRoom(first)) return { instance: first, shared }
    // The rank of the whole request differs from that of its host, so the excess is spread over all other instances.
    const next = rankByHash(`${preferred} ${shared ?? ''}`, names).find(hasRoom) ?? first
    if (shared !== undefined) this.#placed.set(shared, next)
    return { instance: next, shared }
  }

  /** Counts a request until the returned function is called. */
  enter({ instance, shared }: InstanceChoice): () => void {
    this.#inFlight.set(instance, (this.#inFlight.get(instance) ?? 0) + 1)
    const run = shared === undefined ? undefined : (this.#shared.get(shared) ?? { instance, count: 0 })
    if (shared !== undefined && run !== undefined) {
      run.count += 1
      this.#shared.set(shared, run)
    }
    return () => {
      const left = (this.#inFlight.get(instance) ?? 1) - 1
      if (left === 0) this.#inFlight.delete(instance)
      else this.#inFlight.set(instance, left)
      if (shared === undefined || run === undefined) return
      run.count -= 1
      if (run.count === 0) this.#shared.delete(shared)
    }
  }

  /** Returns the number of requests below which an instance gets another one. At least one instance has fewer. */
  #allow(names: readonly string[]): number {
    let total = 1
    for (const name of names) total += this.#inFlight.get(name) ?? 0
    return Math.max(minAllowedInFlight, Math.ceil((maxLoadFactor * total) / names.length))
  }
}
