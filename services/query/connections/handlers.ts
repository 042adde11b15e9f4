import { randomUUID } from 'node:crypto'
import type { CallContext } from '#proto/call.ts'
import { ConnectionTarget, type ConnectionTest, type connectionsMethods } from '#proto/connections.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { findFailureReason } from '../clickhouse/failure.ts'
import type { QueryContext } from '../clickhouse/transport.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { buildBasicsStatement, readBasics } from '../status/status-statement.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ConnectionHandlerDeps } from './connections.ts'
import { requireAllowedUrl, selectNet, toGuardedHost } from './user-connections.ts'

const maxTestMs = 10_000

/** Returns the handlers that test, seal and rename user connections. */
export const createConnectionHandlers = (
  parts: QueryHandlerDeps & ConnectionHandlerDeps,
): ServiceHandlers<Service<typeof connectionsMethods>> => ({
  connectionKey: () => parts.connections.keys.transit.publicKey(),
  testConnection: (input, call) => test(parts, input, call),
  async sealConnection({ key, name, lifetimeMs, isCallerLocal: isLocal, ...input }) {
    const { sealing } = parts.connections
    const net = selectNet(parts.connections.net, isLocal)
    const target = await targetOf(parts, input)
    await requireAllowedUrl(net, target.url)
    const { host } = toGuardedHost(net, target, { key, name }).url
    const expiresAtMs = lifetimeMs === null ? null : parts.clock.now() + lifetimeMs
    return { sealed: await sealing.seal({ target, expiresAtMs, isLocal }, { key, name }), host }
  },
  async renameConnection({ connection, name }) {
    const { sealing } = parts.connections
    const content = await sealing.open(connection)
    return { sealed: await sealing.seal(content, { key: connection.key, name }) }
  },
  keepsConnections: async () => parts.connections.keys.saved() !== undefined,
})

const targetOf = async (
  { connections: { keys } }: ConnectionHandlerDeps,
  { target, encryptedTarget }: { target?: ConnectionTarget | undefined; encryptedTarget?: string | undefined },
): Promise<ConnectionTarget> => {
  if (encryptedTarget !== undefined) return keys.transit.decrypt(encryptedTarget, ConnectionTarget)
  if (target === undefined) throw new ServiceError('invalid', 'encryptedTarget is required')
  return target
}

const test = async (
  parts: QueryHandlerDeps & ConnectionHandlerDeps,
  { isCallerLocal, ...input }: Parameters<typeof targetOf>[1] & { isCallerLocal?: boolean | undefined },
  call: CallContext,
): Promise<ConnectionTest> =>
  tryConnection(parts, await targetOf(parts, input), { isCallerLocal, call }, async (host, context) => {
    const { rows } = await parts.client.run(host, buildBasicsStatement('connection-test'), context)
    const { version, uptimeSeconds, hostname, timezone } = readBasics(host, rows)
    return { ok: true, version, uptimeSeconds, hostname, timezone } as const
  })

type ConnectionFailure = Extract<ConnectionTest, { ok: false }>

/**
 * Connects to a host that a caller supplied and runs `work`. Returns the reason if that fails. Throws `invalid` for an
 * address that is not allowed.
 */
export const tryConnection = async <T>(
  { client, clock, connections }: QueryHandlerDeps & ConnectionHandlerDeps,
  target: ConnectionTarget,
  { isCallerLocal, call }: { isCallerLocal: boolean | undefined; call: CallContext },
  work: (host: MonitoredHost, context: QueryContext) => Promise<T>,
): Promise<T | ConnectionFailure> => {
  const net = selectNet(connections.net, isCallerLocal)
  await requireAllowedUrl(net, target.url)
  const host = toGuardedHost(net, target, { key: `user:test:${randomUUID()}` })
  const deadline = Math.min(call.deadline, clock.elapsedMs() + maxTestMs)
  try {
    return await work(host, { ...call, deadline })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { ok: false, reason: findFailureReason(error) ?? 'statement', message: error.message }
  } finally {
    client.release(host)
  }
}
