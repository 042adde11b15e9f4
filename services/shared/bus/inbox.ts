import { randomBytes } from 'node:crypto'
import type { Wire, WireMessage } from './wire.ts'

/** One subscription for everything that comes back to a connection; each exchange has an address in it. */
export interface Inbox {
  /** Gives an address until it is released or recycled. */
  open(listener: (message: WireMessage) => void): InboxAddress
}

/** Where one exchange hears what comes back. */
export interface InboxAddress {
  readonly subject: string
  /** Replaces the listener of the address, also after a release. */
  listen(listener: (message: WireMessage) => void): void
  /** Drops what still arrives; the address is never given again. */
  release(): void
  /**
   * Gives the address to another exchange, for when nothing more can arrive. A NATS server remembers every subject that may be
   * answered and looks through them all when they are many, so the usual case uses few.
   */
  recycle(): void
}

/** Opens the inbox of a connection; it closes with the connection. */
export const openInbox = (wire: Wire): Inbox => {
  // A process started again under its old name must not hear answers to its predecessor.
  const prefix = `${wire.inbox}.${randomBytes(6).toString('hex')}.`
  const listeners = new Map<string, (message: WireMessage) => void>()
  const free: string[] = []
  let made = 0
  const make = (): string => {
    made += 1
    return prefix + made.toString(36)
  }
  // Late messages that no caller awaits are dropped here.
  wire.subscribe(`${prefix}*`, (message) => listeners.get(message.subject)?.(message))
  return {
    open(listener) {
      const subject = free.pop() ?? make()
      const release = () => void listeners.delete(subject)
      const listen = (onMessage: (message: WireMessage) => void) => void listeners.set(subject, onMessage)
      listen(listener)
      const recycle = () => {
        release()
        free.push(subject)
      }
      return { subject, listen, release, recycle }
    },
  }
}
