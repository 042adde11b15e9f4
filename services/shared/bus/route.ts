import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InstanceChoice, Placement } from './placement.ts'
import { formatGuestInstanceTokens, guestToken, instanceNamePattern } from './subject.ts'

/** The target of one attempt of a request. */
export interface RequestRoute {
  /** The last tokens of the subject; undefined if any instance may respond. */
  tokens: string | undefined
  /** The instance that the tokens name, if they name one. */
  instance: string | undefined
  /** Whether no other instance may respond. */
  only: boolean
  /** The placement of the request; undefined without alternative instances. */
  choice?: InstanceChoice | undefined
}

/** The route to any instance of a service. */
export const anyInstance: RequestRoute = { tokens: undefined, instance: undefined, only: false }

/** The route to any instance that accepts requests for user connections. */
const anyGuest: RequestRoute = { tokens: guestToken, instance: undefined, only: false }

/** Returns the route to one instance; another one may respond if it is not running. */
export const routeTo = (instance: string): RequestRoute => ({ tokens: instance, instance, only: false })

/** The user connections and live instances that a routing decision depends on. */
export interface RouteContext {
  /** User connections of the call, by host key. */
  userConnections: ReadonlyMap<string, unknown> | undefined
  /** Returns the live instances that accept requests of this kind. */
  live(part: 'own' | 'guest'): readonly string[]
  placement: Pick<Placement, 'choose'>
  /** Returns a text that is equal for equal requests. */
  describe(): string
}

/**
 * Chooses the route of a request. `exact` and `prefer` of the method name the input field that determines the instance.
 * Requests for user connections go to guest instances. A request goes to the queue group only if no instance is known,
 * because the caller then does not know which process has received it.
 */
export const chooseRequestRoute = (
  method: Method,
  input: unknown,
  { userConnections, live, placement, describe }: RouteContext,
): RequestRoute => {
  if (method.exact !== undefined) {
    const instance = parseInstance(readField(input, method.exact))
    return { tokens: instance, instance, only: true }
  }
  const key = method.prefer === undefined ? undefined : readField(input, method.prefer)
  const choose = (part: 'own' | 'guest'): RequestRoute | undefined => {
    const names = live(part)
    const shared = key !== undefined && method.safe && names.length > 1 ? describe() : undefined
    const choice =
      names.length > 1 ? placement.choose({ preferred: key ?? String(Math.random()), shared }, names) : undefined
    const instance = choice?.instance ?? names[0]
    if (instance === undefined) return undefined
    return { tokens: part === 'own' ? instance : formatGuestInstanceTokens(instance), instance, only: false, choice }
  }
  const isForGuests =
    method.guest || (userConnections?.size && listHostKeys(input).some((host) => userConnections.has(host)))
  return isForGuests ? (choose('guest') ?? anyGuest) : (choose('own') ?? anyInstance)
}

/**
 * Returns the route after one whose subject has no subscribers. Requests for user connections then go to any instance,
 * which reports whether it accepts them.
 */
export const routeAfter = (route: RequestRoute): RequestRoute | undefined =>
  route === anyGuest ? anyInstance : undefined

/** Returns the error for a request to an instance that is no longer running. */
export const createGoneError = (): ServiceError =>
  new ServiceError('gone', 'the process that handled this operation is no longer running; start the operation again')

const parseInstance = (value: string | undefined): string => {
  const [instance = '', rest] = (value ?? '').split('.', 2)
  if (rest === undefined || !instanceNamePattern.test(instance)) throw createGoneError()
  return instance
}

/** Returns the host keys in the input of a request, from its fields `hostKey` and `hostKeys`. */
const listHostKeys = (input: unknown): string[] => {
  if (typeof input !== 'object' || input === null) return []
  const one: unknown = Reflect.get(input, 'hostKey')
  const several: unknown = Reflect.get(input, 'hostKeys')
  return [one, ...(Array.isArray(several) ? several : [])].filter((key) => typeof key === 'string')
}

const readField = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null) return undefined
  const value: unknown = Reflect.get(input, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
