import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { bearerOf } from '../../bearer.ts'
import type { ApiKeys } from '../keys/keys.ts'
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
  const bearer = bearerOf(headers)
  if (deviceOnly && bearer !== undefined && keys.isOperator(bearer))
    return { subject: deviceLogin.operatorSubject(), isOperator: true }
  if (kind === 'key') throw new ServiceError('forbidden', 'a key cannot approve or deny another sign-in')
  throw new ServiceError(
    'unauthenticated',
    deviceOnly ? 'send the operator secret as Authorization: Bearer' : 'sign in to decide about a device',
  )
}
