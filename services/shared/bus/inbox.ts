import { randomBytes } from 'node:crypto'
import { inboxPrefix } from './subject.ts'
import type { Endpoint, Wire, WireMessage } from './wire.ts'

/** One subscription for everything that comes back to a connection; each exchange has an address in it. */
export interface Inbox {
  /** Gives an address until released. */
  open(listener: (message: WireMessage) => void): InboxAddress
}

/** A subject of this process alone, for the answer to one question. */
export interface InboxAddress {
  readonly subject: string
  /** Hands what arrives to somebody else, also after a release. */
  listen(listener: (message: WireMessage) => void): void
  release(): void
}

/** Subscribes once for this process, and hands each answer to whoever asked. */
export const openInbox = (wire: Wire, endpoint: Endpoint): Inbox => {
  // A process started again under its old name must not hear answers to its predecessor.
  const prefix = `${inboxPrefix(endpoint)}.${randomBytes(6).toString('hex')}.`
  const listeners = new Map<string, (message: WireMessage) => void>()
  let opened = 0
  // What nobody awaits any more is dropped here.
  wire.subscribe(`${prefix}*`, (message) => listeners.get(message.subject)?.(message))
  return {
    open(listener) {
      opened += 1
      const subject = prefix + opened.toString(36)
      listeners.set(subject, listener)
      return {
        subject,
        listen: (other) => void listeners.set(subject, other),
        release: () => void listeners.delete(subject),
      }
    },
  }
}
