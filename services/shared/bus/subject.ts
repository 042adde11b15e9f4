import { LRUCache } from 'lru-cache'
import { type ServiceName, guestServices, isServiceName } from '#proto/call.ts'

/** What an instance may be called: it becomes one token of a subject. */
export const instanceName = /^[a-z0-9-]{1,64}$/

/** Subject of a question: `svc.<service>.<caller>.<method>`, with an instance only that one hears it. */
export const callSubject = (service: ServiceName, caller: ServiceName, method: string, instance?: string): string =>
  instance === undefined ? `svc.${service}.${caller}.${method}` : `svc.${service}.${caller}.${method}.${instance}`

/** Replaces the instance in requests that concern user connections; no instance can have this name. */
export const guestToken = '_guest'

/** The NATS user of the part of a service that answers such questions alone; it has a key of its own too. */
export const guestUser = (service: ServiceName): string => `${service}-guest`

/** Returns a service and its part that runs apart, where it has one: each has a key of its own. */
export const withGuest = (service: ServiceName): string[] =>
  guestServices.includes(service) ? [service, guestUser(service)] : [service]

/** Replaces the instance in requests for one guest only. */
export const guestNamed = (instance: string): string => `${guestToken}.${instance}`

/** What a process subscribes to: the questions any instance may answer, and those for this one alone; and the same of guests. */
export const servedSubjects = (service: ServiceName, instance: string) => ({
  any: `svc.${service}.*.*`,
  own: `svc.${service}.*.*.${instance}`,
  anyGuest: `svc.${service}.*.*.${guestToken}`,
  ownGuest: `svc.${service}.*.*.${guestNamed(instance)}`,
})

/** Reads caller and method from the subject of a request; undefined for a subject that this process does not serve. */
export type ReadCallSubject = (subject: string) => CallSubject | undefined

/** Who calls which method. */
export interface CallSubject {
  caller: ServiceName
  method: string
}

/**
 * Returns the reader of one process. It checks every token: what JetStream delivers to a subject of its user's choice carries the
 * subject it was stored under, so tokens in the right places prove nothing.
 */
export const openCallSubjectReader = (service: ServiceName, instance: string): ReadCallSubject => {
  const addressed = [undefined, instance, guestToken, guestNamed(instance)]
  // A cache of a pure function: most requests use a few methods.
  const recent = new LRUCache<string, CallSubject>({ max: 256 })
  const parse = (subject: string): CallSubject | undefined => {
    const [, , caller = '', method = ''] = subject.split('.')
    if (!isServiceName(caller) || method === '') return undefined
    const isServed = addressed.some((each) => callSubject(service, caller, method, each) === subject)
    return isServed ? { caller, method } : undefined
  }
  return (subject) => {
    const known = recent.get(subject)
    if (known !== undefined) return known
    const parsed = parse(subject)
    recent.set(subject, parsed)
    return parsed
  }
}

/** Subject of an event: `event.<sender>.<noun>.<past-verb>`. The sender is a service, or the user of a part of it. */
export const eventSubject = (sender: string, name: string): string => `event.${sender}.${name}`

/** Who published an event, as its subject proves. */
export interface EventSender {
  service: ServiceName
  /** Whether the part of the service that answers for guests published it. */
  isGuest: boolean
}

/** Reads the sender of an event from its subject; undefined for anything that is no service. */
export const readEventSender = (subject: string): EventSender | undefined => {
  const [, sender = ''] = subject.split('.')
  if (isServiceName(sender)) return { service: sender, isGuest: false }
  const service = guestServices.find((each) => guestUser(each) === sender)
  return service && { service, isGuest: true }
}

/** The subject of responses and control messages for one connection; the last token is unique. `owner` is a service, or the user of a part of it. */
export const inboxPrefix = (owner: string, instance: string): string => `_INBOX.${owner}.${instance}`

/** Returns the owner of an inbox. */
export const ownerOf = (inbox: string): string => inbox.split('.')[1] ?? ''

/**
 * Returns whether a reply subject is in an inbox of this service or of a part of it. A reply sent anywhere else could be abused to
 * publish for a service that may not publish there.
 */
export const isInboxOf = (service: ServiceName, reply: string): boolean =>
  reply.startsWith(`_INBOX.${service}.`) || reply.startsWith(`_INBOX.${service}-`)
