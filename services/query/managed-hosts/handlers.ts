import type { CallContext } from '#proto/call.ts'
import { ConnectionTarget } from '#proto/connections.ts'
import type { Service, ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostCheck, managedHostMethods } from '#proto/managed-hosts.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { findingsSettings } from '../insights/findings-table.ts'
import type { ConnectionHandlerDeps } from '../connections/connections.ts'
import { tryConnection } from '../connections/handlers.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { buildBasicsStatement, readBasics } from '../status/status-statement.ts'
import { queryHostRights } from './host-rights.ts'
import type { ManagedHosts } from './managed-hosts.ts'

/** Dependencies of the handlers for added hosts. */
export interface ManagedHostDeps {
  managedHosts: ManagedHosts
}

type HandlerDeps = QueryHandlerDeps & ConnectionHandlerDeps & ManagedHostDeps

/** Returns the handlers that check, add, change and remove hosts. */
export const createManagedHostHandlers = (parts: HandlerDeps): ServiceHandlers<Service<typeof managedHostMethods>> => {
  const { managedHosts, connections } = parts
  const read = (encryptedTarget: string) => connections.keys.transit.decrypt(encryptedTarget, ConnectionTarget)

  return {
    managedHostSetup: async () => ({
      key: await connections.keys.transit.publicKey(),
      problem: managedHosts.findProblem() ?? null,
    }),
    checkHost: async ({ encryptedTarget, isCallerLocal }, call) =>
      checkHost(parts, await read(encryptedTarget), isCallerLocal, call),
    async addHost({ encryptedTarget, isCallerLocal: isLocal, isUncheckedAllowed, ...change }, call) {
      requirePossible(managedHosts)
      const target = await read(encryptedTarget)
      managedHosts.requireUnused(change, target.url)
      await requireWorking(parts, target, { isLocal, isUncheckedAllowed }, call)
      return toPlace(await managedHosts.add(change, { target, isLocal }))
    },
    async changeHost({ encryptedTarget, isCallerLocal: isLocal, isUncheckedAllowed, ...change }, call) {
      requirePossible(managedHosts)
      const target = encryptedTarget === undefined ? undefined : await read(encryptedTarget)
      managedHosts.requireUnused(change, target?.url)
      if (target) await requireWorking(parts, target, { isLocal, isUncheckedAllowed }, call)
      return toPlace(await managedHosts.change(change, target && { target, isLocal }))
    },
    removeHost: async ({ id }) => ({ label: await managedHosts.remove(id) }),
  }
}

const toPlace = ({ id, url }: { id: number; url: URL }) => ({ hostId: id, host: url.host })

const requirePossible = (managedHosts: ManagedHosts): void => {
  const problem = managedHosts.findProblem()
  if (problem !== undefined) throw new ServiceError('not-implemented', `hosts cannot be added: ${problem}`)
}

const checkHost = (
  parts: HandlerDeps,
  target: ConnectionTarget,
  isCallerLocal: boolean,
  call: CallContext,
): Promise<HostCheck> =>
  tryConnection(parts, target, { isCallerLocal, call }, async (host, context) => {
    const { rows } = await parts.client.run(host, buildBasicsStatement('host-check'), context)
    const { version, uptimeSeconds, hostname, timezone } = readBasics(host, rows)
    const capabilities = await parts.client.capabilities(host, context)
    const { COLUMNDB_DATABASE: database } = parseSettings(findingsSettings, parts.env)
    const rights = await queryHostRights(capabilities, database, (statement) =>
      parts.client.run(host, statement, context),
    )
    return {
      ok: true,
      version,
      uptimeSeconds,
      hostname,
      timezone,
      readonly: capabilities.readonly,
      database,
      rights,
    } as const
  })

/**
 * Throws `invalid` with the reason if the connection fails, unless the caller confirmed that. An address that is not
 * allowed is always rejected.
 */
const requireWorking = async (
  parts: HandlerDeps,
  target: ConnectionTarget,
  { isLocal, isUncheckedAllowed }: { isLocal: boolean; isUncheckedAllowed: boolean },
  call: CallContext,
): Promise<void> => {
  const check = await checkHost(parts, target, isLocal, call)
  if (check.ok || isUncheckedAllowed) return
  throw new ServiceError('invalid', `connection failed: ${check.message}`, { details: { reason: check.reason } })
}
