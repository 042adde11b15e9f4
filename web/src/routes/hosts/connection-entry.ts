import type { Target } from '#lib/api/connections.ts'

/** A user connection in the list. */
export interface ConnectionEntry {
  id: string
  name: string
  /** The address, if known. */
  host: string
  /** Null for a connection stored in this browser. */
  hostId: number | null
  /** Address and credentials of a connection stored in this browser; those on the server are never returned. */
  target: Target | null
}
