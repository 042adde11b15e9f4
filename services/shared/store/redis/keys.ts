/** Prefix of all Redis keys. */
export const redisPrefix = 'watchhouse'

/**
 * Returns the Redis key of a name. All keys share one hash tag, so that a script can use several of them on a cluster.
 */
const formatRedisKey = (name: string): string => `${redisPrefix}:{state}:${name}`

/** The keys of the fences and the outbox. */
export const redisKeys = {
  /** The highest fence token of each lease. */
  fences: formatRedisKey('fences'),
  /** Hash from message id to the position and text of the message. */
  messages: formatRedisKey('outbox'),
  /** Sorted set of the ids of unclaimed messages, by position. */
  waiting: formatRedisKey('outbox:waiting'),
  /** Sorted set of the ids of claimed messages, by the end of their claim. */
  claimed: formatRedisKey('outbox:claimed'),
  attempts: formatRedisKey('outbox:attempts'),
} as const

/** Returns the Redis key of a value. */
export const formatValueKey = (key: string): string => formatRedisKey(`value:${key}`)

/** Returns the Redis key of a lease. */
export const formatLeaseKey = (name: string): string => formatRedisKey(`lease:${name}`)

/** Channel that announces appended messages. */
export const outboxChannel = `${redisPrefix}:outbox`
