import type { Target } from '#lib/api/connections.ts'

/** A connection of whoever looks, as the page lists it. */
export interface OwnHost {
  id: string
  name: string
  /** Its address, as far as it is known here. */
  host: string
  /** Null for one that this browser keeps. */
  hostId: number | null
  /** What this browser keeps of it; of the server's nobody reads it again. */
  target: Target | null
}
