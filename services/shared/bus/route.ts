import { randomUUID } from 'node:crypto'
import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { guestNamed, guestToken, instanceName } from './subject.ts'

/** Where a question goes: to one instance or any; `only` means that nobody else may answer. */
export interface Route {
  instance: string | undefined
  only: boolean
  /** Where it goes when that instance is not there, before it goes to any. */
  otherwise?: string
}

/** What a route is chosen by, besides the question. */
export interface Choosing {
  /** Databases that came with the call, by host key. */
  brought: ReadonlyMap<string, unknown> | undefined
  /** The instances that are alive and take such questions. */
  live(part: 'own' | 'guest'): readonly string[]
}

/** Chooses by the traits of the method, the value of the input field that they name, and the hosts it is about. */
export const route = (method: Method, input: unknown, { brought, live }: Choosing): Route => {
  if (method.exact !== undefined) return { instance: instanceIn(field(input, method.exact)), only: true }
  const key = (method.prefer === undefined ? undefined : field(input, method.prefer)) ?? anyKey(method)
  const chosen = (part: 'own' | 'guest') => (key === undefined ? undefined : pick(key, live(part)))
  const isForGuests = method.guest || (brought?.size && hostsOf(input).some((host) => brought.has(host)))
  if (!isForGuests) return { instance: chosen('own'), only: false }
  const guest = chosen('guest')
  // Where no process is a guest, any other takes it: the answer of one that may not connect there says so.
  return guest === undefined
    ? { instance: guestToken, only: false }
    : { instance: guestNamed(guest), only: false, otherwise: guestToken }
}

/**
 * What is not safe goes to a process chosen at random, and not to the queue group: the gateway signs the name of that process, so
 * nobody can send the request to a second one that does not remember it.
 */
const anyKey = ({ safe }: Method): string | undefined => (safe ? undefined : randomUUID())

/** What is said when the one instance that could answer is not there. */
export const gone = (): ServiceError => new ServiceError('gone', 'The process that held it no longer runs.')

const instanceIn = (value: string | undefined): string => {
  const [instance = '', rest] = (value ?? '').split('.', 2)
  if (rest === undefined || !instanceName.test(instance)) throw gone()
  return instance
}

/** The hosts that a question is about, under the names that all contracts give them. */
const hostsOf = (input: unknown): string[] => {
  if (typeof input !== 'object' || input === null) return []
  const one: unknown = Reflect.get(input, 'hostKey')
  const several: unknown = Reflect.get(input, 'hostKeys')
  return [one, ...(Array.isArray(several) ? several : [])].filter((key) => typeof key === 'string')
}

const field = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null) return undefined
  const value: unknown = Reflect.get(input, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/**
 * Picks one of several names for a key so that everybody picks the same one, and a name that comes or goes moves only
 * the keys that are its own (rendezvous or highest-random-weight hashing, Thaler and Ravishankar 1998).
 */
export const pick = (key: string, names: readonly string[]): string | undefined => {
  // Most installations have one, which needs no weighing.
  if (names.length <= 1) return names[0]
  let best: string | undefined
  let highest = -1
  for (const name of names) {
    const weight = hash(`${name}/${key}`)
    // The order in which names were heard of must not matter.
    if (weight > highest || (weight === highest && best !== undefined && name < best)) [best, highest] = [name, weight]
  }
  return best
}

/** FNV-1a with the finish of MurmurHash3, without which names that differ in their last letter weigh alike. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
