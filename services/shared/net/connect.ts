import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard } from './guard.ts'

/**
 * Returns a lookup function for sockets that only returns addresses which the guard allows. The socket connects to the
 * checked address, so DNS rebinding has no effect.
 */
export const createGuardedLookup =
  (guard: AddressGuard): LookupFunction =>
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
const commonOptions = { timeout: timeoutMs, allowH2: false } as const

/** A function that opens sockets for undici. */
export type Connector = buildConnector.connector

/** Returns a connector that does not check addresses. */
export const createUnguardedConnector = (): Connector => buildConnector(commonOptions)

/** Returns a connector for addresses that the guard allows. Certificates are verified against the name as usual. */
export const createGuardedConnector = (guard: AddressGuard): Connector => {
  const connect = buildConnector({ ...commonOptions, lookup: createGuardedLookup(guard) })
  return (options, connected) => {
    // The lookup checks names; literal addresses are never looked up, so they are checked here.
    if (isIP(options.hostname) === 0) connect(options, connected)
    else
      guard.addresses(options.hostname).then(
        () => connect(options, connected),
        (error: Error) => connected(error, null),
      )
  }
}
