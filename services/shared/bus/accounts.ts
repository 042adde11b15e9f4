import type { ServiceName } from '#proto/call.ts'
import type { BusEvent, Service } from '#proto/contract.ts'
import { listStreamAccess, streamServices } from './durable/stream-access.ts'
import { type NatsPermissions, buildGuestPermissions, buildServicePermissions } from './permissions.ts'
import { formatInboxPrefix } from './subject.ts'

interface Export {
  service: string
  response?: 'stream'
  accounts: readonly string[]
}

interface Import {
  service: { account: string; subject: string }
}

/** An account in the configuration of a NATS server, without its users. */
export interface NatsAccount {
  jetstream?: 'enabled'
  exports?: readonly Export[]
  imports?: readonly Import[]
}

/** A user with its account and its permissions in that account. */
export interface NatsUser {
  account: string
  permissions: Omit<NatsPermissions, 'allow_responses'> & Partial<NatsPermissions>
}

/** The accounts and users of the product in the configuration of a NATS server. */
export interface NatsAccounts {
  accounts: Readonly<Record<string, NatsAccount>>
  users: Readonly<Record<string, NatsUser>>
}

const requestsAccount = 'REQUESTS'
const jetStreamAccount = 'STREAMS'

/**
 * Returns the NATS accounts of the product. `REQUESTS` is for requests and events and has no JetStream. `STREAMS` has
 * JetStream and no users. Each service that uses streams has its own account, which imports only the JetStream subjects
 * that the service publishes to.
 */
export const buildNatsAccounts = (contracts: readonly Service[], events: readonly BusEvent[]): NatsAccounts => {
  const byUser = { ...buildServicePermissions(contracts, events), ...buildGuestPermissions(contracts, events) }
  const users = Object.entries(byUser).map(([name, granted]) => [
    name,
    { account: requestsAccount, permissions: granted },
  ])
  const streaming = streamServices.map((service) => [formatStreamUserName(service), createStreamUser(service)])
  return {
    accounts: {
      [requestsAccount]: {},
      [jetStreamAccount]: { jetstream: 'enabled', exports: listStreamExports() },
      ...Object.fromEntries(
        streamServices.map((service) => [formatAccountName(service), { imports: listImports(service) }]),
      ),
    },
    users: Object.fromEntries([...users, ...streaming]),
  }
}

/** Returns the `accounts` section of a server configuration, with users and their passwords. */
export const formatServerAccounts = ({ accounts, users }: NatsAccounts, passwordOf: (user: string) => string): object =>
  Object.fromEntries(
    Object.entries(accounts).map(([account, body]) => {
      const members = Object.entries(users).filter(([, user]) => user.account === account)
      const written = members.map(([user, { permissions: granted }]) => ({
        user,
        password: passwordOf(user),
        permissions: granted,
      }))
      return [account, { ...body, users: written }]
    }),
  )

/** Returns the name of the NATS user with which a service accesses JetStream. The user has its own inbox. */
export const formatStreamUserName = (service: ServiceName): string => `${service}-streams`

const formatAccountName = (service: ServiceName): string => `STREAMS_${service.replaceAll('-', '_').toUpperCase()}`

const listImports = (service: ServiceName): Import[] =>
  listStreamAccess(service).map(({ subject }) => ({ service: { account: jetStreamAccount, subject } }))

const listStreamExports = (): Export[] => {
  const accesses = streamServices.flatMap((service) =>
    listStreamAccess(service).map((access) => ({ ...access, account: formatAccountName(service) })),
  )
  const bySubject = Map.groupBy(accesses, ({ subject }) => subject)
  return [...bySubject].map(([subject, granted]) => ({
    service: subject,
    ...(granted.some(({ isStreamed }) => isStreamed) && { response: 'stream' as const }),
    accounts: granted.map(({ account }) => account),
  }))
}

const createStreamUser = (service: ServiceName): NatsUser => ({
  account: formatAccountName(service),
  permissions: {
    publish: { allow: listStreamAccess(service).map(({ subject }) => subject) },
    subscribe: { allow: [formatInboxPrefix(formatStreamUserName(service), '>')] },
  },
})
