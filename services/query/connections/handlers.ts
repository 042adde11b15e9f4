import { randomUUID } from 'node:crypto'
import type { CallContext } from '#proto/call.ts'
import {
  ConnectionTarget,
  type ConnectionTest,
  type connectionFailures,
  type connectionsMethods,
} from '#proto/connections.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { findFailureReason } from '../clickhouse/failure.ts'
import { buildBasicsStatement, readBasics } from '../status/status-statement.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ConnectionHandlerDeps } from './connections.ts'
import { toGuardedHost, requireAllowedUrl } from './user-connections.ts'

const maxTestMs = 10_000

/** Returns the handlers that test, seal and rename user connections. */
export const createConnectionHandlers = (
  parts: QueryHandlerDeps & ConnectionHandlerDeps,
): ServiceHandlers<Service<typeof connectionsMethods>> => ({
  connectionKey: () => parts.connections.keys.transit.publicKey(),
  testConnection: async (input, call) => test(parts, await targetOf(parts, input), call),
  async sealConnection({ key, name, lifetimeMs, ...input }) {
    const { net, sealing } = parts.connections
    const target = await targetOf(parts, input)
    await requireAllowedUrl(net, target.url)
    const { host } = toGuardedHost(net, target, { key, name }).url
    const expiresAtMs = lifetimeMs === null ? null : parts.clock.now() + lifetimeMs
    return { sealed: await sealing.seal({ target, expiresAtMs }, { key, name }), host }
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
  { client, clock, connections: { net } }: QueryHandlerDeps & ConnectionHandlerDeps,
  target: ConnectionTarget,
  call: CallContext,
): Promise<ConnectionTest> => {
  await requireAllowedUrl(net, target.url)
  const host = toGuardedHost(net, target, { key: `user:test:${randomUUID()}` })
  const deadline = Math.min(call.deadline, clock.elapsedMs() + maxTestMs)
  try {
    const { rows } = await client.run(host, buildBasicsStatement('connection-test'), { ...call, deadline })
    const { version, uptimeSeconds, hostname, timezone } = readBasics(host, rows)
    return { ok: true, version, uptimeSeconds, hostname, timezone }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { ok: false, reason: reasonOf(error), message: error.message }
  } finally {
    client.release(host)
  }
}

const reasonOf = (error: ServiceError): (typeof connectionFailures)[number] => findFailureReason(error) ?? 'statement'
