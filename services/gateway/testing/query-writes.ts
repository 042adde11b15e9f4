import { ConnectionTarget, type connectionsMethods } from '#proto/connections.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { hostRights, type managedHostMethods } from '#proto/managed-hosts.ts'
import type { QueryHandlers } from './query.ts'
import { fakeTransitKey, decryptTransitSecret } from './transit-key.ts'

type WriteHandlers = Pick<QueryHandlers, 'killQuery' | 'optimizeTable' | 'killMutation' | 'management' | 'manage'>

/** A host with one running query, one table, and users that can be changed. */
export const fakeActions: WriteHandlers = {
  killQuery: async ({ queryId }) => {
    if (queryId !== 'runaway') throw new ServiceError('not-found', `no query ${queryId} is running on host analytics`)
    return { state: 'done', target: { user: 'ada', elapsedSeconds: 900 }, queryId: 'own-1' }
  },
  optimizeTable: async () => ({ state: 'running', target: { engine: 'MergeTree', parts: 12 }, queryId: null }),
  killMutation: async ({ mutationId }) => {
    throw new ServiceError('conflict', `mutation ${mutationId} is already finished`)
  },
  management: async () => ({ enabled: true }),
  manage: async ({ management }) => ({ ddl: `-- ${management.operation}` }),
}

/** Handlers for which every connection test succeeds. Targets that are not encrypted are rejected. */
export const fakeConnections = {
  connectionKey: async () => fakeTransitKey,
  testConnection: async ({ encryptedTarget }) => {
    await decrypted(encryptedTarget)
    return { ok: true, version: '26.3.1', uptimeSeconds: 60, hostname: 'own', timezone: 'UTC' }
  },
  sealConnection: async ({ key, name, encryptedTarget }) => ({
    sealed: `fake.${key}.${name}`,
    host: new URL((await decrypted(encryptedTarget)).url).host,
  }),
  renameConnection: async ({ connection, name }) => ({ sealed: `fake.${connection.key}.${name}` }),
  keepsConnections: async () => true,
} satisfies Partial<ServiceHandlers<Service<typeof connectionsMethods>>>

/** Handlers for which every check of a host succeeds. */
export const fakeManagedHosts = {
  managedHostSetup: async () => ({ key: fakeTransitKey, problem: null }),
  checkHost: async ({ encryptedTarget }) => {
    await decrypted(encryptedTarget)
    const rights = hostRights.map((right) => ({ right, isGranted: right !== 'kill-query' }))
    return {
      ok: true,
      version: '26.3.1',
      uptimeSeconds: 60,
      hostname: 'own',
      timezone: 'UTC',
      readonly: 2,
      database: 'system',
      rights,
    }
  },
  addHost: async ({ label, encryptedTarget }) => {
    const { host } = new URL((await decrypted(encryptedTarget)).url)
    if (label === 'used') throw new ServiceError('conflict', 'label "used" is used by another host')
    return { hostId: 2, host }
  },
  changeHost: async () => ({ hostId: 2, host: 'db.example.com' }),
  removeHost: async () => ({ label: 'added' }),
} satisfies Partial<ServiceHandlers<Service<typeof managedHostMethods>>>

const decrypted = async (encryptedTarget?: string): Promise<ConnectionTarget> =>
  ConnectionTarget.parse(await decryptTransitSecret(encryptedTarget))

/** A host that stores page views. */
export const fakePageViews: Pick<QueryHandlers, 'tracksPageViews' | 'storePageViews' | 'removePageViews'> = {
  tracksPageViews: async () => ({ enabled: true }),
  storePageViews: async ({ views }) => ({ kept: views.length }),
  removePageViews: async () => ({ removed: 2 }),
}
