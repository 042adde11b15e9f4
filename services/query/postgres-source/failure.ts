import { ServiceError } from '#proto/errors.ts'

/** What kept the source from answering. */
export type SourceFailure = 'auth' | 'unreachable' | 'timeout' | 'locked' | 'busy' | 'permission' | 'failed'

interface Meaning {
  code: 'unavailable' | 'timeout' | 'busy' | 'internal'
  sentence: string
}

const meanings: Readonly<Record<SourceFailure, Meaning>> = {
  auth: {
    code: 'unavailable',
    sentence: 'refused the user, password or database of SVC_POSTGRES_SOURCE_URL',
  },
  unreachable: {
    code: 'unavailable',
    sentence: 'cannot be reached; check SVC_POSTGRES_SOURCE_URL, its TLS mode and the network between',
  },
  timeout: { code: 'timeout', sentence: 'did not answer in time' },
  locked: { code: 'busy', sentence: 'could not answer: a lock stood in the way' },
  busy: { code: 'busy', sentence: 'has no connection to spare, or too many ask at once' },
  permission: { code: 'unavailable', sentence: 'does not let its user read these statistics; GRANT pg_monitor to it' },
  failed: { code: 'internal', sentence: 'could not answer' },
}
const retryAfterMs = 1_000

/** The error of a source that gave no answer. What PostgreSQL itself says is in none: it may hold values and names. */
export const sourceFailure = (failure: SourceFailure, cause?: unknown): ServiceError => {
  const { code, sentence } = meanings[failure]
  return new ServiceError(code, `the PostgreSQL source ${sentence}`, {
    details: { reason: failure },
    ...(code === 'busy' && { retryAfterMs }),
    cause,
  })
}

/** The error of whoever asks a source that is not there. */
export const noSource = (): ServiceError =>
  new ServiceError('not-implemented', 'there is no PostgreSQL source here; SVC_POSTGRES_SOURCE_URL names one', {
    details: { reason: 'not-configured' },
  })

/** By the beginning of the SQLSTATE; the first that fits counts. */
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

/** Translates what the client threw. */
export const failureOf = (error: unknown): SourceFailure => {
  if (!(error instanceof Error)) return 'failed'
  if (isSaidByServer(error)) return byState.find(([prefix]) => error.code.startsWith(prefix))?.[1] ?? 'failed'
  // The client has no codes of its own, so its words must tell: SASL is how passwords are shown, and here that none was given.
  if (error.message.startsWith('SASL')) return 'auth'
  return /timeout/i.test(error.message) ? 'timeout' : 'unreachable'
}

/** Whether the server said it: then the connection is as good as before. */
export const isSaidByServer = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'

/** Why a source gave no answer, if that is what an error says. */
export const reasonOf = (error: unknown): unknown => (error instanceof ServiceError ? error.details?.reason : undefined)
