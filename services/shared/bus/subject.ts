import { type ServiceName, serviceNames } from '#proto/call.ts'
import { openRecent } from '../recent.ts'

/** What an instance may be called: it becomes one token of a subject. */
export const instanceName = /^[a-z0-9-]{1,64}$/

/** Subject of a question: `svc.<service>.<caller>.<method>`, with an instance only that one hears it. */
export const callSubject = (service: ServiceName, caller: ServiceName, method: string, instance?: string): string =>
  instance === undefined ? `svc.${service}.${caller}.${method}` : `svc.${service}.${caller}.${method}.${instance}`

/** Stands for the instance in questions about databases that callers bring; no instance can be called so. */
export const guestToken = '_guest'

/** Stands for the instance in questions for one guest alone. */
export const guestNamed = (instance: string): string => `${guestToken}.${instance}`

/** What a process subscribes to: the questions any instance may answer, and those for this one alone; and the same of guests. */
export const servedSubjects = (service: ServiceName, instance: string) => ({
  any: `svc.${service}.*.*`,
  own: `svc.${service}.*.*.${instance}`,
  anyGuest: `svc.${service}.*.*.${guestToken}`,
  ownGuest: `svc.${service}.*.*.${guestNamed(instance)}`,
})

/** Who asks for which method, read from a question's subject. */
export const readCallSubject = (subject: string): CallSubject | undefined => subjectsRead(subject, () => parse(subject))

interface CallSubject {
  caller: ServiceName
  method: string
}

/** A memory of a pure function only: most questions are about a few methods. */
const subjectsRead = openRecent<CallSubject | undefined>(256)

const parse = (subject: string): CallSubject | undefined => {
  const [, , caller, method] = subject.split('.')
  return caller !== undefined && method !== undefined && isServiceName(caller) ? { caller, method } : undefined
}

/** Subject of an event: `event.<noun>.<past-verb>`. */
export const eventSubject = (name: string): string => `event.${name}`

/** Where answers and control messages for one connection arrive; a last token tells them apart. `owner` is a service, or the user of a part of it. */
export const inboxPrefix = (owner: string, instance: string): string => `_INBOX.${owner}.${instance}`

const isServiceName = (name: string): name is ServiceName => serviceNames.some((known) => known === name)
