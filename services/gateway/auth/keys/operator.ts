import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import { bearerOf } from '../../bearer.ts'
import type { ApiKeys } from './keys.ts'

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
