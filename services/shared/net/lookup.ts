import { isIP, type LookupFunction } from 'node:net'
import type { Guard } from './guard.ts'

/**
 * Looks names up for a socket, which connects to addresses that the guard has admitted and to no others: what is checked here is
 * what the socket gets, so a name that answers differently the next time gains nothing.
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
