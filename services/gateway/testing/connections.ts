import { ConnectionTarget, type connectionsMethods } from '#proto/connections.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { fakeTransitKey, opened } from './transit.ts'

/** Every connection works, what is sealed is marked as such, and a target in clear is none. */
export const fakeConnections: Handlers<Service<typeof connectionsMethods>> = {
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
}

const decrypted = async (encryptedTarget?: string): Promise<ConnectionTarget> =>
  ConnectionTarget.parse(await opened(encryptedTarget))
