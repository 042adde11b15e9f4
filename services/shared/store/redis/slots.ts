import { hash } from 'node:crypto'

const slotCount = 16
/** Begins the name of every key of ours. */
export const prefix = 'watchhouse'

/** A group of keys that one script may touch together, in a cluster too: they share a hash tag. */
export interface Slot {
  number: number
  /** Order of messages and the fences seen. */
  slot: string
  messages: string
  /** Ids by their order. */
  waiting: string
  /** Ids by the time their claim ends. */
  claimed: string
  attempts: string
}

const slotNumbered = (number: number): Slot => {
  const named = (name: string) => `${prefix}:{${number}}:${name}`
  return {
    number,
    slot: named('slot'),
    messages: named('outbox'),
    waiting: named('outbox:waiting'),
    claimed: named('outbox:claimed'),
    attempts: named('outbox:attempts'),
  }
}

/** All groups, in the order of their numbers. */
export const slots: readonly Slot[] = Array.from({ length: slotCount }, (_, number) => slotNumbered(number))

/** Channel on which an append is told. */
export const appendChannel = `${prefix}:outbox`

const numberOf = (name: string): number => Number.parseInt(hash('sha1', name).slice(0, 2), 16) % slotCount

/** Where a value lies, and the group of its outbox. */
export const placeOfValue = (key: string): Slot & { value: string } => {
  const number = numberOf(key)
  return { ...slotNumbered(number), value: `${prefix}:{${number}}:value:${key}` }
}

/** Where a lease lies, and the group that counts its tokens. */
export const placeOfLease = (name: string): { lease: string; slot: string } => {
  const number = numberOf(name)
  return { lease: `${prefix}:{${number}}:lease:${name}`, slot: slotNumbered(number).slot }
}
