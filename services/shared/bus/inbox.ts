import { randomBytes } from 'node:crypto'
import type { Wire, WireMessage } from './wire.ts'

/** The inbox of a connection: one subscription for all its messages, in which each exchange has an address. */
export interface Inbox {
  /**
   * Opens an address until it is released or recycled. Only one NATS user, the `sender`, is ever given an address,
   * because it may still publish to the address when that is used again.
   */
  open(sender: string, listener: (message: WireMessage) => void): InboxAddress
}

/** The reply address of one exchange. */
export interface InboxAddress {
  readonly subject: string
  /** Replaces the listener of the address, also after a release. */
  listen(listener: (message: WireMessage) => void): void
  /** Drops later messages; the address is never reused. */
  release(): void
  /**
   * Makes the address reusable; call only if no more messages can arrive. A NATS server tracks every reply subject and
   * becomes slow with many of them, so addresses are reused.
   */
  recycle(): void
}

/**
 * How long an address is reused. A NATS server counts the life of the permission to reply from the first request, and
 * later requests do not extend it. The permission must outlive the last use by the duration of the longest exchange.
 */
const reusedForMs = 600_000

interface FreeAddress {
  subject: string
  sinceMs: number
}

/** Opens the inbox of a connection; it closes with the connection. */
export const openInbox = (wire: Wire): Inbox => {
  // A restarted process with the same name must not receive responses to its predecessor.
  const prefix = `${wire.inbox}.${randomBytes(6).toString('hex')}.`
  const listeners = new Map<string, (message: WireMessage) => void>()
  const free = new Map<string, FreeAddress[]>()
  let made = 0
  const make = () => {
    made += 1
    return { subject: prefix + made.toString(36), sinceMs: performance.now() }
  }
  const freeFor = (sender: string): FreeAddress[] => {
    const known = free.get(sender) ?? []
    free.set(sender, known)
    return known
  }
  const takeFree = (addresses: FreeAddress[]) => {
    let address = addresses.pop()
    while (address && performance.now() - address.sinceMs > reusedForMs) address = addresses.pop()
    return address
  }
  // Late messages that no caller awaits are dropped here.
  wire.subscribe(`${prefix}*`, (message) => listeners.get(message.subject)?.(message))
  return {
    open(sender, listener) {
      const addresses = freeFor(sender)
      const address = takeFree(addresses) ?? make()
      const { subject } = address
      const release = () => void listeners.delete(subject)
      const listen = (onMessage: (message: WireMessage) => void) => void listeners.set(subject, onMessage)
      listen(listener)
      const recycle = () => {
        release()
        addresses.push(address)
      }
      return { subject, listen, release, recycle }
    },
  }
}
