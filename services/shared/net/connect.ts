import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { Guard } from './guard.ts'
import { lookupThrough } from './lookup.ts'

const timeoutMs = 5_000
const common = { timeout: timeoutMs, allowH2: false } as const

/** Opens a socket for undici. */
export type Connector = buildConnector.connector

/** Connects without checking the address. */
export const trustedConnector = (): Connector => buildConnector(common)

/** Connects to addresses that the guard has admitted, and to no others. Certificates are checked against the name as usual. */
export const guardedConnector = (guard: Guard): Connector => {
  const connect = buildConnector({ ...common, lookup: lookupThrough(guard) })
  return (options, connected) => {
    // Names are checked by the lookup; a literal address is never looked up.
    if (isIP(options.hostname) === 0) connect(options, connected)
    else
      guard.addresses(options.hostname).then(
        () => connect(options, connected),
        (error: Error) => connected(error, null),
      )
  }
}
