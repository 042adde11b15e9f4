import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { bearerOf } from '../../request/bearer.ts'
import type { ApiKeys } from './keys.ts'

/** Whoever knows the operator's secret, on record. */
export const operator: Identity = { kind: 'service', subject: 'operator', features: 'all' }

/** Whether a request carries the operator's secret. */
export const isOperator = (headers: IncomingHttpHeaders, keys: ApiKeys): boolean => {
  const bearer = bearerOf(headers)
  return bearer !== undefined && keys.isOperator(bearer)
}

/** What is said to a caller who would have to be the operator. */
export const notTheOperator = (headers: IncomingHttpHeaders): ServiceError =>
  new ServiceError(
    'unauthenticated',
    bearerOf(headers) === undefined
      ? 'send the operator secret as Authorization: Bearer'
      : 'what was sent is not the operator secret',
  )
