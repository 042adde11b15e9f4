import type { DatabaseTarget } from '#lib/api/connections.ts'

/** A user connection in the list. */
export interface ConnectionEntry {
  id: string
  name: string
  /** The address. Empty if it is unknown. */
  host: string
  /** The host id. Null for a connection that is stored in this browser. */
  hostId: number | null
  /** Address and credentials of a connection in this browser. Null for one on the server, which never returns them. */
  target: DatabaseTarget | null
}
