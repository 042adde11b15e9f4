import { ServiceError } from '#proto/errors.ts'
import { NetFailure } from '#shared/net/failure.ts'

/** The reason why a request to the replication service failed. */
export type RepldbFailureReason = 'not-configured' | 'auth' | 'unreachable' | 'refused'

const failure = (
  code: 'not-implemented' | 'unavailable' | 'timeout' | 'not-found',
  reason: RepldbFailureReason,
  sentence: string,
) => new ServiceError(code, sentence, { details: { reason } })

export const createNotConfiguredError = (): ServiceError =>
  failure('not-implemented', 'not-configured', 'no replication service is configured; set REPLDB_API_URL')

export const createResponseTimeoutError = (): ServiceError =>
  failure(
    'timeout',
    'unreachable',
    'the replication service did not respond in time; check it, or raise REPLDB_FETCH_TIMEOUT_MS',
  )

/** Returns the error for a response that is not from the service, such as a web page. */
export const createInvalidResponseError = (): ServiceError =>
  failure(
    'unavailable',
    'unreachable',
    'REPLDB_API_URL does not point to a replication service; use the URL of its UI plus /api, or the origin of its API',
  )

/** Maps an error status to an error. The body is ignored, because it may contain connection strings. */
export const createStatusError = (status: number): ServiceError => {
  if (status === 401 || status === 403) {
    return failure(
      'unavailable',
      'auth',
      'the replication service rejects the password; set REPLDB_PASSWORD to the password of its UI',
    )
  }
  if (status === 404) return failure('not-found', 'refused', 'unknown mirror, peer or path on the replication service')
  return failure(
    'unavailable',
    status < 500 ? 'refused' : 'unreachable',
    `the replication service returned status ${status}; check its logs`,
  )
}

/** Converts the error of a failed request to one that callers may see. Other errors are returned unchanged. */
export const toReplicationServiceError = (error: unknown): unknown => {
  if (error instanceof SyntaxError) return createInvalidResponseError()
  if (!(error instanceof NetFailure)) return error
  switch (error.reason) {
    case 'timeout':
      return createResponseTimeoutError()
    case 'redirect':
      return failure(
        'unavailable',
        'auth',
        'the replication service redirects, as its UI does without sign-in; check REPLDB_PASSWORD, and the scheme of REPLDB_API_URL',
      )
    case 'too-large':
      return failure('unavailable', 'refused', 'the response of the replication service exceeds its maximum size')
    default:
      return failure('unavailable', 'unreachable', 'the replication service is unreachable; check REPLDB_API_URL')
  }
}

/** Returns the reason of a failed request, or undefined for other errors. */
export const readServiceFailureReason = (error: unknown): unknown =>
  error instanceof ServiceError ? error.details?.reason : undefined
