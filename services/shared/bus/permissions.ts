import { type ServiceName, serviceNames } from '#proto/call.ts'
import type { Event, Service } from '#proto/contract.ts'
import { instanceAnnounced, instanceSought } from '#proto/instance.ts'
import { queueSubjects } from './durable/roles.ts'
import { callSubject, eventSubject, inboxPrefix, servedSubjects } from './subject.ts'

/** What a NATS server lets one user do, as its configuration writes it. */
export interface NatsPermissions {
  publish: { allow: readonly string[] }
  subscribe: { allow: readonly string[] }
  allow_responses: { max: number; expires: string }
}

/**
 * A service may answer whom it was asked by, any number of times. Both ends of an exchange renew this each second. The server
 * remembers what it allowed for this long, and is slow beyond 4,096 subjects, so it is no longer than a stalled process needs.
 */
const responses = { max: -1, expires: '30s' } as const

/** Permissions of every service: ask along the arrows of the contracts and only under its own name, hear its own inbox, answer, tell its own events, take its part in the queue. */
export const permissions = (
  contracts: readonly Service[],
  events: readonly Event[],
): Record<ServiceName, NatsPermissions> => {
  const entries = serviceNames.map((name) => [name, permissionsOf(name, contracts, events)])
  // Every service name has its entry.
  return Object.fromEntries(entries) as Record<ServiceName, NatsPermissions>
}

/**
 * Permissions of further users, by what they are called: processes with the part `guest` may connect to wherever callers say,
 * so they hear nothing but what is for them.
 */
export const guestPermissions = (
  contracts: readonly Service[],
  events: readonly Event[],
): Record<string, NatsPermissions> => {
  const parted = contracts.filter(({ methods }) => Object.values(methods).some(({ guest }) => guest))
  const guests = parted.map(({ name }) => {
    const { publish, allow_responses } = permissionsOf(name, contracts, events)
    const { anyGuest, ownGuest } = servedSubjects(name, '*')
    const met = [instanceAnnounced, instanceSought].map((event) => eventSubject(event.name))
    const allow = [anyGuest, ownGuest, inboxPrefix(`${name}-guest`, '>'), ...met]
    return [`${name}-guest`, { publish, subscribe: { allow }, allow_responses }] as const
  })
  return Object.fromEntries(guests)
}

const permissionsOf = (name: ServiceName, contracts: readonly Service[], events: readonly Event[]): NatsPermissions => {
  const asked = contracts.filter(({ methods }) => Object.values(methods).some(({ callers }) => callers.includes(name)))
  const told = events.filter(({ publishers }) => publishers.includes(name))
  const served = contracts.filter((contract) => contract.name === name)
  return {
    publish: {
      allow: [
        ...asked.map((contract) => callSubject(contract.name, name, '>')),
        ...told.map((event) => eventSubject(event.name)),
        ...queueSubjects(name),
      ],
    },
    subscribe: {
      allow: [...served.map(() => `svc.${name}.>`), inboxPrefix(name, '>'), eventSubject('>')],
    },
    allow_responses: responses,
  }
}
