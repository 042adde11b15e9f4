import { ServiceError } from '#proto/errors.ts'
import { NetFailure } from '#shared/net/failure.ts'

/** Why the replication service gave no answer that may be used. */
export type FailureReason = 'not-configured' | 'auth' | 'unreachable' | 'refused'

const failure = (
  code: 'not-implemented' | 'unavailable' | 'timeout' | 'not-found',
  reason: FailureReason,
  sentence: string,
) => new ServiceError(code, sentence, { details: { reason } })

export const notConfigured = (): ServiceError =>
  failure('not-implemented', 'not-configured', 'no replication service is configured; REPLDB_API_URL names its address')

export const tooLate = (): ServiceError =>
  failure(
    'timeout',
    'unreachable',
    'the replication service did not answer in time; REPLDB_FETCH_TIMEOUT_MS is how long it may take',
  )

/** Also what a web page says that stands where the service was looked for. */
export const noSuchAnswer = (): ServiceError =>
  failure(
    'unavailable',
    'unreachable',
    'what answers at REPLDB_API_URL is not the replication service; the address of its web must end in /api, that of its API alone has no path',
  )

/** What a status means that is no success. Whatever else was said may repeat connection strings, so it is not read. */
export const failureOfStatus = (status: number): ServiceError => {
  if (status === 401 || status === 403) {
    return failure(
      'unavailable',
      'auth',
      'the replication service refuses the password; REPLDB_PASSWORD must be the one that its web asks for',
    )
  }
  if (status === 404)
    return failure('not-found', 'refused', 'the replication service knows no such mirror, peer or path')
  return failure(
    'unavailable',
    status < 500 ? 'refused' : 'unreachable',
    `the replication service failed to answer (status ${status})`,
  )
}

/** Any failure of asking as one that callers may be told; a defect stays what it is. */
export const failureOf = (error: unknown): unknown => {
  if (error instanceof SyntaxError) return noSuchAnswer()
  if (!(error instanceof NetFailure)) return error
  switch (error.reason) {
    case 'timeout':
      return tooLate()
    case 'redirect':
      return failure(
        'unavailable',
        'auth',
        'the replication service leads elsewhere, as its web does with who is not signed in; look at REPLDB_PASSWORD, and at REPLDB_API_URL for the scheme',
      )
    case 'too-large':
      return failure('unavailable', 'refused', 'the replication service answered more than is read at once')
    default:
      return failure('unavailable', 'unreachable', 'the replication service cannot be reached at REPLDB_API_URL')
  }
}

/** The reason within a failure of asking; undefined for others. */
export const reasonOf = (error: unknown): unknown => (error instanceof ServiceError ? error.details?.reason : undefined)
