/** Prefix of all Redis keys. */
export const prefix = 'watchhouse'

/**
 * Returns the Redis key of a name. All keys share one hash tag, so that a script can use several of them on a cluster.
 */
const redisKey = (name: string): string => `${prefix}:{state}:${name}`

/** The keys of the fences and the outbox. */
export const keys = {
  /** The highest fence token of each lease. */
  fences: redisKey('fences'),
  /** Hash of position and text of each message, by id. */
  messages: redisKey('outbox'),
  /** Sorted set of the ids of unclaimed messages, by position. */
  waiting: redisKey('outbox:waiting'),
  /** Sorted set of the ids of claimed messages, by the end of their claim. */
  claimed: redisKey('outbox:claimed'),
  attempts: redisKey('outbox:attempts'),
} as const

/** Returns the Redis key of a value. */
export const valueKey = (key: string): string => redisKey(`value:${key}`)

/** Returns the Redis key of a lease. */
export const leaseKey = (name: string): string => redisKey(`lease:${name}`)

/** Channel that announces appended messages. */
export const appendChannel = `${prefix}:outbox`
