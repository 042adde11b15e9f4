import { type Call, requireFeature } from '#proto/call.ts'
import type { Method, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseInput } from './conform.ts'
import { readQuestionHeaders } from './question.ts'
import type { Checking } from './signatures.ts'
import type { CallSubject } from './subject.ts'
import type { WireMessage } from './wire.ts'

/** A question that a service answers. */
export interface Admitted {
  name: string
  method: Method
  input: unknown
  call: Omit<Call, 'signal'> & Required<Pick<Call, 'caller'>>
}

/** A request to one process, and what it is checked with. */
export interface Admission {
  contract: Service
  called: CallSubject
  message: WireMessage
  nowMs: number
  /** Throws when the identity is not proven; absent where nothing is signed. */
  checkSignature: ((checking: Checking) => void) | undefined
}

/**
 * Checks a request against the contract: the method exists, the caller may call it, the identity is proven and may use the feature,
 * the input fits. Throws a `ServiceError` for the first that does not hold.
 */
export const admit = ({ contract, called, message, nowMs, checkSignature }: Admission): Admitted => {
  const { caller, method: name } = called
  const method = Object.hasOwn(contract.methods, name) ? contract.methods[name] : undefined
  if (!method) throw new ServiceError('not-implemented', `${contract.name} has no method ${name} in this release.`)
  if (!method.callers.includes(caller)) {
    throw new ServiceError('forbidden', `${caller} may not call ${contract.name}.${name}.`)
  }
  const call = { ...readHeaders(message, nowMs), caller }
  const isSafe = method.safe === true
  checkSignature?.({ service: contract.name, called, isSafe, identity: call.identity, message })
  requireFeature(call.identity, method.feature, `${contract.name}.${name}`)
  return { name, method, input: parseInput(method.input, message.body), call }
}

const readHeaders = (message: WireMessage, nowMs: number): Omit<Call, 'signal'> => {
  try {
    return readQuestionHeaders(message.headers, nowMs)
  } catch (error) {
    throw new ServiceError('invalid', 'The question does not say who asks and until when.', { cause: error })
  }
}
