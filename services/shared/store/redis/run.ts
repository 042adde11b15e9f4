import { hash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { ServiceError } from '#proto/errors.ts'

/** A Lua script with its SHA-1 digest for EVALSHA. */
export interface Script {
  text: string
  digest: string
}

/** Creates a script from its text. */
export const script = (text: string): Script => ({ text, digest: hash('sha1', text) })

/** Runs a script by its digest, or by its text if the server does not have it cached. */
export const run = async (
  client: Redis,
  { text, digest }: Script,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> => {
  try {
    return await client.evalsha(digest, keys.length, ...keys, ...values)
  } catch (error) {
    if (!isUnknown(error)) throw error
    return client.eval(text, keys.length, ...keys, ...values)
  }
}

const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT')

/** Temporary errors of a server; any other error reply is a defect of a script. */
const passing = /^(LOADING|READONLY|MISCONF|OOM|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|CLUSTERDOWN)/

/** Translates the error of a command; `address` is the address of the server without credentials. */
export const failureOf = (error: unknown, address: string): unknown => {
  if (error instanceof Error && error.name === 'ReplyError' && !passing.test(error.message)) return error
  return new ServiceError('unavailable', reasonOf(error, address), { retryAfterMs: 1_000, cause: error })
}

/** Formats the server, the reason of its failure and the remedy. */
export const reasonOf = (error: unknown, address: string): string => {
  const [, word = ''] = /^([A-Z]+)\b/.exec(error instanceof Error ? error.message : '') ?? []
  return `state store Redis "${address}": ${causes[word] ?? 'does not answer; check that it runs and that its address is right'}`
}

const causes: Readonly<Record<string, string>> = {
  LOADING: 'is loading its data; wait for it',
  READONLY: 'is a read-only replica; connect to the primary',
  MISCONF: 'cannot save to its disk and refuses writes; free space there',
  OOM: 'has reached its maxmemory; raise it, or free memory',
  MASTERDOWN: 'has lost its primary; check the primary',
  NOREPLICAS: 'has too few replicas to take writes; check the replicas',
  CLUSTERDOWN: 'its cluster is down; check the nodes of the cluster',
}
