import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { Guard } from './guard.ts'

const timeoutMs = 5_000
const common = { timeout: timeoutMs, allowH2: false } as const

/** Opens a socket for undici. */
export type Connector = buildConnector.connector

/** Connects to whatever it is told. */
export const trustedConnector = (): Connector => buildConnector(common)

/**
 * Connects to addresses that the guard has admitted, and to no others: what is checked here is what the socket gets, so a name
 * that answers differently the next time gains nothing. Certificates are checked against the name as usual.
 */
export const guardedConnector = (guard: Guard): Connector => {
  const connect = buildConnector({ ...common, lookup: lookupThrough(guard) })
  return (options, connected) => {
    // Names are checked by the lookup; an address that stands there itself is never looked up.
    if (isIP(options.hostname) === 0) connect(options, connected)
    else
      guard.addresses(options.hostname).then(
        () => connect(options, connected),
        (error: Error) => connected(error, null),
      )
  }
}

const lookupThrough =
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
