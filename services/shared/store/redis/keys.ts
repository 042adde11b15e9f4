/** Prefix of all keys. */
export const prefix = 'watchhouse'

/** All keys share one hash tag, so that one script may use any of them, also on a cluster. */
const named = (name: string): string => `${prefix}:{state}:${name}`

/** The keys beside the values. */
export const keys = {
  /** The highest fence token of each lease. */
  fences: named('fences'),
  messages: named('outbox'),
  /** Ids of unclaimed messages by position. */
  waiting: named('outbox:waiting'),
  /** Ids of claimed messages by the end of their claim. */
  claimed: named('outbox:claimed'),
  attempts: named('outbox:attempts'),
} as const

/** Returns the Redis key of a value. */
export const valueKey = (key: string): string => named(`value:${key}`)

/** Returns the Redis key of a lease. */
export const leaseKey = (name: string): string => named(`lease:${name}`)

/** Channel on which appends are announced. */
export const appendChannel = `${prefix}:outbox`
