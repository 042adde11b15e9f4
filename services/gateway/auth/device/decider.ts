import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ApiKeys } from '../keys/keys.ts'
import { isOperator, notTheOperator } from '../keys/operator.ts'
import type { Decider, DeviceLogin } from './device-login.ts'

/**
 * Who may decide about devices: a person whom a provider vouches for, or where there is none the operator. A key never:
 * it could make another that outlives it or may do more.
 */
export const deciderOf = (
  headers: IncomingHttpHeaders,
  { kind, subject }: Identity,
  { keys, deviceLogin }: { keys: ApiKeys; deviceLogin: DeviceLogin },
): Decider => {
  if (kind === 'user') return { subject, isOperator: false }
  const { deviceOnly } = deviceLogin.availability()
  if (deviceOnly && isOperator(headers, keys)) return { subject: deviceLogin.operatorSubject(), isOperator: true }
  if (kind === 'key') throw new ServiceError('forbidden', 'a key cannot approve or deny another sign-in')
  throw deviceOnly ? notTheOperator(headers) : new ServiceError('unauthenticated', 'sign in to decide about a device')
}
