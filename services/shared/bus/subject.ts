import { LRUCache } from 'lru-cache'
import { guestServices, isServiceName, type ServiceName } from '#proto/call.ts'

/** Returns a predicate for a subject pattern of NATS: `*` matches one token, a trailing `>` one or more. */
export const createSubjectMatcher = (pattern: string): ((subject: string) => boolean) => {
  const wild = pattern.search(/[*>]/)
  if (wild === -1) return (subject) => subject === pattern
  const start = pattern.slice(0, wild)
  // Fast path for inboxes, the most frequent patterns: no split is needed.
  if (start.endsWith('.') && pattern === `${start}*`)
    return (subject) =>
      subject.startsWith(start) && subject.length > start.length && !subject.includes('.', start.length)
  const tokens = pattern.split('.')
  const open = tokens.at(-1) === '>'
  const fixed = open ? tokens.slice(0, -1) : tokens
  return (subject) => {
    // Fast path: most subjects fail here.
    if (!subject.startsWith(start)) return false
    const parts = subject.split('.')
    if (open ? parts.length <= fixed.length : parts.length !== fixed.length) return false
    return fixed.every((token, index) => token === '*' || token === parts[index])
  }
}

/** Pattern of valid instance names, which are tokens of subjects. */
export const instanceNamePattern = /^[a-z0-9-]{1,64}$/

/** Returns the subject of a request: `svc.<service>.<caller>.<method>`, plus the instance to reach only that one. */
export const formatCallSubject = (
  service: ServiceName,
  caller: ServiceName,
  method: string,
  instance?: string,
): string =>
  instance === undefined ? `svc.${service}.${caller}.${method}` : `svc.${service}.${caller}.${method}.${instance}`

/** Marks the subjects of requests for user connections. No instance can have this name. */
export const guestToken = '_guest'

/** Takes the place of the method in requests for the state of another request. No method can have this name. */
export const stateToken = '_state'

/** Returns the NATS user of the guest process of a service; it also has its own key. */
export const formatGuestUserName = (service: ServiceName): string => `${service}-guest`

/** Returns the key holders of a service: the service itself and its guest process, if it has one. */
export const listKeyHolders = (service: ServiceName): string[] =>
  guestServices.includes(service) ? [service, formatGuestUserName(service)] : [service]

/** Returns the last tokens of the subject of a request for one guest instance. */
export const formatGuestInstanceTokens = (instance: string): string => `${guestToken}.${instance}`

/**
 * Returns the subjects that a process subscribes to: requests for any instance and for this one, the same for guest
 * requests, and requests for the state of a request.
 */
export const listServedSubjects = (service: ServiceName, instance: string) => ({
  any: `svc.${service}.*.*`,
  own: `svc.${service}.*.*.${instance}`,
  anyGuest: `svc.${service}.*.*.${guestToken}`,
  ownGuest: `svc.${service}.*.*.${formatGuestInstanceTokens(instance)}`,
  state: `svc.${service}.*.${stateToken}.${instance}`,
  stateGuest: `svc.${service}.*.${stateToken}.${formatGuestInstanceTokens(instance)}`,
})

/** Parses the subject of a request; returns undefined for a subject that this process does not serve. */
export type CallSubjectReader = (subject: string) => CallSubject | undefined

/** The caller and method in the subject of a request. */
export interface CallSubject {
  caller: ServiceName
  method: string
}

/**
 * Returns a parser for the subjects of requests to a process. It checks every token, because JetStream can deliver a
 * stored message whose subject is not one of the subscribed ones.
 */
export const openCallSubjectReader = (service: ServiceName, instance: string): CallSubjectReader => {
  const addressed = [undefined, instance, guestToken, formatGuestInstanceTokens(instance)]
  // Caches parsed subjects, because most requests use few methods.
  const recent = new LRUCache<string, CallSubject>({ max: 256 })
  const parse = (subject: string): CallSubject | undefined => {
    const [, , caller = '', method = ''] = subject.split('.')
    if (!isServiceName(caller) || method === '') return undefined
    const isServed = addressed.some((each) => formatCallSubject(service, caller, method, each) === subject)
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

/** Returns the subject of an event: `event.<sender>.<noun>.<past-verb>`. The sender is a service or its guest user. */
export const formatEventSubject = (sender: string, name: string): string => `event.${sender}.${name}`

/** The sender of an event. The subject proves it, because a user may publish only under its own name. */
export interface EventSender {
  service: ServiceName
  /** Whether the guest process of the service published the event. */
  isGuest: boolean
}

/** Parses the sender from the subject of an event; undefined if it is neither a service nor a guest user. */
export const readEventSender = (subject: string): EventSender | undefined => {
  const [, sender = ''] = subject.split('.')
  if (isServiceName(sender)) return { service: sender, isGuest: false }
  const service = guestServices.find((each) => formatGuestUserName(each) === sender)
  return service && { service, isGuest: true }
}

/** Returns the NATS user that responds to a request on this subject: a service, or its guest process. */
export const parseResponder = (subject: string): string => {
  const [, service = '', , , part] = subject.split('.')
  return part === guestToken ? `${service}-guest` : service
}

/** Returns the inbox prefix of a connection. `owner` is a service, or the NATS user of its guest process. */
export const formatInboxPrefix = (owner: string, instance: string): string => `_INBOX.${owner}.${instance}`

/** Returns the owner of an inbox: a service, or the NATS user of its guest process. */
export const parseInboxOwner = (inbox: string): string => inbox.split('.')[1] ?? ''

/** Returns the last tokens of subjects that reach the process with this inbox. */
export const parseInboxInstance = (service: ServiceName, inbox: string): string => {
  const [, owner, instance = ''] = inbox.split('.')
  return owner === service ? instance : formatGuestInstanceTokens(instance)
}

/**
 * Returns whether a reply subject is in an inbox of this service or of its guest process. Replies to any other
 * subject could be abused to publish messages that the caller itself may not publish.
 */
export const isServiceInbox = (service: ServiceName, reply: string): boolean =>
  reply.startsWith(`_INBOX.${service}.`) || reply.startsWith(`_INBOX.${service}-`)
