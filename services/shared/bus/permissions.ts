import { type ServiceName, serviceNames } from '#proto/call.ts'
import type { BusEvent, Service } from '#proto/contract.ts'
import { instanceAnnounced, instancesRequested } from '#proto/instance.ts'
import {
  formatCallSubject,
  formatEventSubject,
  formatGuestUserName,
  formatInboxPrefix,
  listServedSubjects,
  stateToken,
} from './subject.ts'

/** Permissions of a user in the configuration of a NATS server. */
export interface NatsPermissions {
  publish: { allow: readonly string[] }
  subscribe: { allow: readonly string[] }
  allow_responses: { max: number; expires: string }
}

/**
 * A service may reply any number of times to a request that it received. The permission expires 30 minutes after the
 * first request with a reply subject, and a request in progress does not extend it. Reply subjects are reused for ten
 * minutes, so exchanges can take 20. It does expire, because a server with more than 4,096 allowed subjects is slow.
 */
const responsePermission = { max: -1, expires: '30m' } as const

/**
 * Returns the permissions of every service. It may call its allowed methods under its own name, respond to requests
 * and publish its own events. It may subscribe to its contract, its inbox and its events.
 */
export const buildServicePermissions = (
  contracts: readonly Service[],
  events: readonly BusEvent[],
): Record<ServiceName, NatsPermissions> => {
  const entries = serviceNames.map((name) => [name, buildPermissions(name, contracts, events)])
  // Every service has an entry.
  return Object.fromEntries(entries) as Record<ServiceName, NatsPermissions>
}

/**
 * Returns the permissions of guest users by name. Guest processes connect to user-supplied addresses, so they only
 * receive requests for guests and announcements of instances.
 */
export const buildGuestPermissions = (
  contracts: readonly Service[],
  events: readonly BusEvent[],
): Record<string, NatsPermissions> => {
  const parted = contracts.filter(({ methods }) => Object.values(methods).some(({ guest }) => guest))
  const guests = parted.map(({ name }) => {
    const user = formatGuestUserName(name)
    const { publish, allow_responses } = buildPermissions(name, contracts, events, user)
    const { anyGuest, ownGuest } = listServedSubjects(name, '*')
    const met = [instanceAnnounced, instancesRequested].map((event) => formatEventSubject('*', event.name))
    const allow = [anyGuest, ownGuest, formatInboxPrefix(user, '>'), ...met]
    return [user, { publish, subscribe: { allow }, allow_responses }] as const
  })
  return Object.fromEntries(guests)
}

const buildPermissions = (
  name: ServiceName,
  contracts: readonly Service[],
  events: readonly BusEvent[],
  user: string = name,
): NatsPermissions => {
  const published = events.filter(({ publishers }) => publishers.includes(name))
  const subscribed = events.filter(({ listeners }) => listeners.includes(name))
  const served = contracts.filter((contract) => contract.name === name)
  return {
    publish: {
      allow: [
        ...contracts.flatMap((contract) => listRequestSubjects(contract, name)),
        ...published.map((event) => formatEventSubject(user, event.name)),
      ],
    },
    subscribe: {
      allow: [
        ...served.map(() => `svc.${name}.>`),
        formatInboxPrefix(name, '>'),
        ...subscribed.map((event) => formatEventSubject('*', event.name)),
      ],
    },
    allow_responses: responsePermission,
  }
}

/**
 * Returns the subjects of the methods that a service may call, for any instance and for a specific one, and those for
 * the state of these calls.
 */
const listRequestSubjects = ({ name, methods }: Service, caller: ServiceName): string[] => {
  const called = Object.entries(methods).filter(([, { callers }]) => callers.includes(caller))
  if (called.length === 0) return []
  const requests = called.flatMap(([method]) => [
    formatCallSubject(name, caller, method),
    formatCallSubject(name, caller, method, '>'),
  ])
  return [...requests, formatCallSubject(name, caller, stateToken, '>')]
}
