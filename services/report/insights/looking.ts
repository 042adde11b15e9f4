import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Store } from '#shared/store/store.ts'
import type { AnyDetector } from './detector.ts'

/** Whom to ask about which host. */
export interface Looking {
  query: Client<typeof query>
  call: Call
  hostKey: string
  nowMs: number
  /** Where hosts leave what others of their group are compared with. */
  store: Store
  /** All of them unless others are named. */
  detectors?: readonly AnyDetector[]
}
