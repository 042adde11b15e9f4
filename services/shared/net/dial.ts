import { type Socket, type TcpNetConnectOpts, connect, isIP } from 'node:net'
import { toNetFailure, NetFailure } from './failure.ts'
import type { AddressGuard } from './guard.ts'
import { createGuardedLookup } from './connect.ts'
import { isMailPort } from './purposes.ts'

const connectWithinMs = 5_000

/** The address of a server with a protocol other than HTTP. */
export interface ServerAddress {
  /** A name or an address; IPv6 without brackets. */
  host: string
  port: number
}

/**
 * A function that opens a connection; rejects with `NetFailure`. The connection ends when the signal aborts or the
 * caller destroys it.
 */
export type Dialer = (place: ServerAddress, signal: AbortSignal) => Promise<Socket>

/** Connects without checking the address. */
export const dial: Dialer = (place, signal) => openSocket(place, signal)

/** Throws `NetFailure` if mail to this server is not allowed; does not connect. */
export const checkMailServer = async (guard: AddressGuard, { host, port }: ServerAddress): Promise<void> => {
  requireMailPort({ host, port })
  await guard.addresses(host)
}

/** Returns a function that connects to mail servers, only on mail ports and at addresses that the guard allows. */
export const createGuardedDial =
  (guard: AddressGuard): Dialer =>
  async ({ host, port }, signal) => {
    requireMailPort({ host, port })
    // The lookup checks names; literal addresses are never looked up, so they are checked here.
    if (isIP(host) !== 0) await guard.addresses(host)
    return openSocket({ host, port, lookup: createGuardedLookup(guard) }, signal)
  }

const requireMailPort = ({ host, port }: ServerAddress): void => {
  if (!isMailPort(port)) throw new NetFailure('not-allowed', { host, rule: 'port' })
}

const openSocket = async (options: TcpNetConnectOpts & ServerAddress, signal: AbortSignal): Promise<Socket> => {
  const { host } = options
  // Checks the signal first, because a socket created with an aborted signal still connects.
  if (signal.aborted) throw new NetFailure('timeout', { host })
  const { promise: connected, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ ...options, signal })
  // The error listener is never removed, because an unhandled error ends the process.
  socket.once('connect', resolve).on('error', reject)
  const late = setTimeout(() => socket.destroy(new NetFailure('timeout', { host })), connectWithinMs)
  try {
    await connected
    return socket
  } catch (error) {
    throw signal.aborted ? new NetFailure('timeout', { host }) : toNetFailure(host, error)
  } finally {
    clearTimeout(late)
  }
}
