import { randomUUID } from 'node:crypto'
import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { formatGuestInstanceTokens, guestToken, instanceNamePattern } from './subject.ts'

/** The target of a request: one instance, or any if undefined. With `only`, no other instance may respond. */
export interface RequestRoute {
  instance: string | undefined
  only: boolean
  /** Subject token to use if the instance is not running. If it has no receivers either, any instance may respond. */
  otherwise?: string
}

/** The user connections and live instances that a routing decision depends on. */
export interface RouteContext {
  /** User connections of the call, by host key. */
  userConnections: ReadonlyMap<string, unknown> | undefined
  /** Returns the live instances that accept requests of this kind. */
  live(part: 'own' | 'guest'): readonly string[]
}

/**
 * Chooses the route of a request. `exact` and `prefer` of the method name the input field that determines the instance.
 * Requests for user connections go to guest instances.
 */
export const chooseRequestRoute = (
  method: Method,
  input: unknown,
  { userConnections, live }: RouteContext,
): RequestRoute => {
  if (method.exact !== undefined) return { instance: parseInstance(readField(input, method.exact)), only: true }
  const key = (method.prefer === undefined ? undefined : readField(input, method.prefer)) ?? createRandomKey(method)
  const chosen = (part: 'own' | 'guest') => (key === undefined ? undefined : pickByHash(key, live(part)))
  const isForGuests =
    method.guest || (userConnections?.size && listHostKeys(input).some((host) => userConnections.has(host)))
  if (!isForGuests) return { instance: chosen('own'), only: false }
  const guest = chosen('guest')
  // Without a live guest instance, the request goes to any instance, which reports whether it accepts user connections.
  return guest === undefined
    ? { instance: guestToken, only: false }
    : { instance: formatGuestInstanceTokens(guest), only: false, otherwise: guestToken }
}

/**
 * Returns a random routing key for a method that is not safe. Its requests then go to a named process instead of the
 * queue group. The name is signed, so the request cannot be replayed to another process.
 */
const createRandomKey = ({ safe }: Method): string | undefined => (safe ? undefined : randomUUID())

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

/**
 * Returns one of several names for a key, the same in every process; undefined without names. Adding or removing a name
 * moves only the keys of that name (rendezvous hashing, Thaler and Ravishankar 1998).
 */
export const pickByHash = (key: string, names: readonly string[]): string | undefined => {
  // Fast path: most installations have one instance per service.
  if (names.length <= 1) return names[0]
  let best: string | undefined
  let highest = -1
  for (const name of names) {
    const weight = hash(`${name}/${key}`)
    // The result must not depend on the order of the names.
    if (weight > highest || (weight === highest && best !== undefined && name < best)) [best, highest] = [name, weight]
  }
  return best
}

/**
 * Returns the FNV-1a hash of a text, with the finalizer of MurmurHash3. Without the finalizer, names that differ in
 * their last character would get similar weights.
 */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
