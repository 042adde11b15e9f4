import { type NatsConnection, type Subscription, connect } from 'nats'
import type { BusEvent, Service } from '#proto/contract.ts'
import { type NatsAccounts, buildNatsAccounts, formatServerAccounts } from '#shared/bus/accounts.ts'
import { keepStreamsInstalled } from '#shared/bus/durable/installer.ts'
import { consumerPlans } from '#shared/bus/durable/stream-access.ts'
import { streamNames } from '#shared/bus/durable/streams.ts'
import { retryUntil } from '../../testing/fetch-json.ts'
import { importContracts } from '../../generate/chart/services.ts'
import { startNats, type TestServer } from '../../testing/describe-with.ts'

/** The password of all NATS users in these tests. */
const password = 'secret'

/** A NATS server with the accounts of the chart, and in each account an additional user that may receive everything. */
export interface ObservedNats extends AsyncDisposable {
  server: TestServer
  declared: NatsAccounts
  contracts: readonly Service[]
  events: readonly BusEvent[]
  as(user: string): Promise<NatsConnection>
  observe(account: string): Promise<NatsConnection>
  /** Returns the current streams and consumers of the server, by stream name. */
  streams(): Promise<Record<string, object>>
}

const observerOf = (account: string): string => `observer-${account.toLowerCase().replaceAll('_', '-')}`

/**
 * Starts the server and creates the streams and consumers of the product. `change` can modify accounts and permissions.
 */
export const startObservedNats = async (
  change = (declared: NatsAccounts): NatsAccounts => declared,
): Promise<ObservedNats> => {
  await using opened = new AsyncDisposableStack()
  const { contracts, events } = await importContracts()
  const declared = buildNatsAccounts(contracts, events)
  const { accounts, users } = change(declared)
  const observers = Object.keys(accounts).map((account) => [
    observerOf(account),
    { account, permissions: unrestrictedPermissions },
  ])
  const permitted = { accounts, users: { ...users, ...Object.fromEntries(observers) } }
  const configured = formatServerAccounts(permitted, () => password)
  const server = await startNats({ config: `accounts ${JSON.stringify(configured)}` })
  opened.defer(() => server.stop())
  const connections: NatsConnection[] = []
  opened.defer(async () => void (await Promise.all(connections.map((connection) => connection.close()))))
  const open = async (user: string): Promise<NatsConnection> => {
    const servers = new URL(server.url).host
    const connection = await connect({ servers, user, pass: password, inboxPrefix: `_INBOX.${user}` })
    connections.push(connection)
    return connection
  }
  const facts = { url: server.url, user: 'gateway-streams', password, replicas: 1 }
  opened.use(await keepStreamsInstalled(facts, { caller: 'gateway', instance: 'installer' }))
  const observer = await open(observerOf('STREAMS'))
  const manager = await observer.jetstreamManager()
  const streams = async () => {
    const found: Record<string, object> = {}
    for await (const { config } of manager.streams.list()) {
      const names = []
      for await (const consumer of manager.consumers.list(config.name)) names.push(consumer.config)
      found[config.name] = { config, consumers: names }
    }
    return found
  }
  await retryUntil(streams, isInstalled, 20_000)
  const ground = opened.move()
  return {
    server,
    declared,
    contracts,
    events,
    as: open,
    observe: (account) => open(observerOf(account)),
    streams,
    [Symbol.asyncDispose]: () => ground.disposeAsync(),
  }
}

const isInstalled = (found: Record<string, object>): boolean =>
  streamNames.every((name) => name in found) &&
  Object.values(found).flatMap((stream) => Object.values(stream)[1]).length === consumerPlans.length

/** Permissions for all subjects. With them, only accounts isolate users from each other. */
export const unrestrictedPermissions = { publish: { allow: ['>'] }, subscribe: { allow: ['>'] } } as const

/** Subscribes to all messages of an account and records their subjects, by message text. */
export const recordSubjects = (
  observer: NatsConnection,
): { subjects: Map<string, Set<string>>; subscription: Subscription } => {
  const subjects = new Map<string, Set<string>>()
  const subscription = observer.subscribe('>', {
    callback: (_error, message) => {
      const sender = message.string()
      if (!subjects.has(sender)) subjects.set(sender, new Set())
      subjects.get(sender)?.add(message.subject)
    },
  })
  return { subjects, subscription }
}

/** Resolves when the server has processed everything that these connections sent. */
export const flushConnections = async (...connections: NatsConnection[]): Promise<void> => {
  for (const connection of connections) await connection.flush()
}
