import { type Call, requireFeature } from '#proto/call.ts'
import type { Method, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseInput } from './conform.ts'
import { readQuestionHeaders } from './question.ts'
import { readCallSubject } from './subject.ts'
import type { WireMessage } from './wire.ts'

/** A question that a service answers. */
export interface Admitted {
  name: string
  method: Method
  input: unknown
  call: Omit<Call, 'signal'> & Required<Pick<Call, 'caller'>>
}

/** Checks a question against the contract: the method exists, the subject's caller may call it, its identity may use it, its input fits. */
export const admit = (contract: Service, message: WireMessage, nowMs: number): Admitted => {
  const asked = readCallSubject(message.subject)
  if (!asked) throw new ServiceError('forbidden', 'The question names no service that may ask.')
  const { caller, method: name } = asked
  const method = Object.hasOwn(contract.methods, name) ? contract.methods[name] : undefined
  if (!method) throw new ServiceError('not-implemented', `${contract.name} has no method ${name} in this release.`)
  if (!method.callers.includes(caller)) {
    throw new ServiceError('forbidden', `${caller} may not call ${contract.name}.${name}.`)
  }
  const call = { ...readHeaders(message, nowMs), caller }
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
