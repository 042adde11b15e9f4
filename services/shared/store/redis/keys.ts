/** Begins the name of every key of ours. */
export const prefix = 'watchhouse'

/** All state shares one hash tag, so that one script may touch any of it, behind a proxy that shards too. */
const named = (name: string): string => `${prefix}:{state}:${name}`

/** The keys beside the values. */
export const keys = {
  /** Order of messages and the fences seen. */
  fences: named('fences'),
  messages: named('outbox'),
  /** Ids by their order. */
  waiting: named('outbox:waiting'),
  /** Ids by the time their claim ends. */
  claimed: named('outbox:claimed'),
  attempts: named('outbox:attempts'),
} as const

/** Where a value lies. */
export const valueKey = (key: string): string => named(`value:${key}`)

/** Where a lease lies. */
export const leaseKey = (name: string): string => named(`lease:${name}`)

/** Channel on which appends are announced. */
export const appendChannel = `${prefix}:outbox`
