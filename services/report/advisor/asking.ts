import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'

/** Whom advice asks, for whom, and about which host. */
export interface Asking {
  query: Client<typeof query>
  call: Call
  hostKey: string
  /** The same call with less time, for trying out on data what is advised; undefined when that is not allowed. */
  trying: Call | undefined
}
