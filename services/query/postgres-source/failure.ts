import { ServiceError } from '#proto/errors.ts'

/** The reason why a request to the PostgreSQL source failed. */
export type SourceFailure = 'auth' | 'unreachable' | 'timeout' | 'locked' | 'busy' | 'permission' | 'failed'

interface Meaning {
  code: 'unavailable' | 'timeout' | 'busy' | 'internal'
  sentence: string
}

const meanings: Readonly<Record<SourceFailure, Meaning>> = {
  auth: {
    code: 'unavailable',
    sentence: 'rejected the user, password or database of SVC_POSTGRES_SOURCE_URL',
  },
  unreachable: {
    code: 'unavailable',
    sentence: 'cannot be reached; check SVC_POSTGRES_SOURCE_URL, its TLS mode and the network',
  },
  timeout: { code: 'timeout', sentence: 'did not answer in time' },
  locked: { code: 'busy', sentence: 'timed out while waiting for a lock; try again' },
  busy: { code: 'busy', sentence: 'has no free connection, or too many requests are running; try again shortly' },
  permission: {
    code: 'unavailable',
    sentence: 'does not permit its user to read these statistics; run GRANT pg_monitor TO <user>',
  },
  failed: { code: 'internal', sentence: 'returned an error' },
}
const retryAfterMs = 1_000

/** Returns the error for a failed request. It omits PostgreSQL's own message, which may contain values and names. */
export const createSourceError = (failure: SourceFailure, cause?: unknown): ServiceError => {
  const { code, sentence } = meanings[failure]
  return new ServiceError(code, `the PostgreSQL source ${sentence}`, {
    details: { reason: failure },
    ...(code === 'busy' && { retryAfterMs }),
    cause,
  })
}

/** Returns the error for requests when no source is configured. */
export const createSourceNotConfiguredError = (): ServiceError =>
  new ServiceError('not-implemented', 'no PostgreSQL source is configured; set SVC_POSTGRES_SOURCE_URL', {
    details: { reason: 'not-configured' },
  })

/** Failure reasons by SQLSTATE prefix. The first matching prefix is used. */
const byState: readonly (readonly [prefix: string, failure: SourceFailure])[] = [
  ['28', 'auth'],
  ['3D000', 'auth'],
  ['42501', 'permission'],
  ['53300', 'busy'],
  ['55P03', 'locked'],
  ['57014', 'timeout'],
  ['57P', 'unreachable'],
  ['08', 'unreachable'],
]

/** Returns the reason why a request failed, derived from the error that the PostgreSQL client threw. */
export const classifySourceError = (error: unknown): SourceFailure => {
  if (!(error instanceof Error)) return 'failed'
  if (isServerError(error)) return byState.find(([prefix]) => error.code.startsWith(prefix))?.[1] ?? 'failed'
  // Client errors have no code, so the message is parsed. A SASL message means that no password was supplied.
  if (error.message.startsWith('SASL')) return 'auth'
  return /timeout/i.test(error.message) ? 'timeout' : 'unreachable'
}

/** Returns whether the server reported the error. The connection is then still usable. */
export const isServerError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'

/** Returns the reason of a failed request, or undefined for other errors. */
export const readFailureReason = (error: unknown): unknown =>
  error instanceof ServiceError ? error.details?.reason : undefined
