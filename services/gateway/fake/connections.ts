import type { connectionsMethods } from '#proto/connections.ts'
import type { Handlers, Service } from '#proto/contract.ts'

/** Every connection works, and what is sealed is marked as such. */
export const fakeConnections: Handlers<Service<typeof connectionsMethods>> = {
  testConnection: async () => ({ ok: true, version: '26.3.1', uptimeSeconds: 60, hostname: 'own', timezone: 'UTC' }),
  sealConnection: async ({ key, name, target }) => ({ sealed: `fake.${key}.${name}`, host: new URL(target.url).host }),
  renameConnection: async ({ connection, name }) => ({ sealed: `fake.${connection.key}.${name}` }),
  keepsConnections: async () => true,
}
