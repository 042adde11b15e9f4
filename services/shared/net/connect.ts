import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { Guard } from './guard.ts'

/**
 * Returns a lookup for sockets that only returns addresses admitted by the guard. The socket connects to the checked address, so DNS rebinding has no effect.
 */
export const lookupThrough =
  (guard: Guard): LookupFunction =>
  (hostname, { all }, found) => {
    guard.addresses(hostname).then(
      (addresses) => {
        const [first = ''] = addresses
        if (all) found(null, addresses.map(withFamily))
        else found(null, first, isIP(first))
      },
      (error: Error) => found(error, ''),
    )
  }

const withFamily = (address: string) => ({ address, family: isIP(address) })

const timeoutMs = 5_000
const common = { timeout: timeoutMs, allowH2: false } as const

/** Opens a socket for undici. */
export type Connector = buildConnector.connector

/** Connects without checking the address. */
export const trustedConnector = (): Connector => buildConnector(common)

/** Connects only to addresses that the guard admits. Certificates are verified against the name as usual. */
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
