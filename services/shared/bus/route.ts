import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { pick } from './rendezvous.ts'
import { instanceName } from './subject.ts'

/** Where a question goes: to one instance or any; `only` means that nobody else may answer. */
export interface Route {
  instance: string | undefined
  only: boolean
}

/** Chooses by the traits of the method and the value of the input field that they name. */
export const route = (method: Method, input: unknown, live: () => readonly string[]): Route => {
  if (method.exact !== undefined) return { instance: instanceIn(field(input, method.exact)), only: true }
  const key = method.prefer === undefined ? undefined : field(input, method.prefer)
  return { instance: key === undefined ? undefined : pick(key, live()), only: false }
}

/** What is said when the one instance that could answer is not there. */
export const gone = (): ServiceError => new ServiceError('gone', 'The process that held it no longer runs.')

const instanceIn = (value: string | undefined): string => {
  const [instance = '', rest] = (value ?? '').split('.', 2)
  if (rest === undefined || !instanceName.test(instance)) throw gone()
  return instance
}

const field = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null) return undefined
  const value: unknown = Reflect.get(input, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
