import { type NatsAccounts, buildNatsAccounts, formatServerAccounts } from '#shared/bus/accounts.ts'
import { importContracts } from './services.ts'

/** Returns the NATS accounts of the product, and the permissions of each user by name. */
export const buildDeclaredNatsAccounts = async (): Promise<NatsAccounts> => {
  const { contracts, events } = await importContracts()
  return buildNatsAccounts(contracts, events)
}

/** Returns values for the official NATS chart with these accounts. Passwords come from the Secret of the users. */
export const createNatsChartValues = (declared: NatsAccounts): object => {
  const names = Object.keys(declared.users)
  const variable = (name: string) => `NATS_PASSWORD_${name.replaceAll('-', '_').toUpperCase()}`
  return {
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, fileStore: { enabled: true, pvc: { size: '10Gi' } } },
      monitor: { enabled: true },
      merge: {
        max_payload: '<< 1MB >>',
        accounts: formatServerAccounts(declared, (name) => `<< $${variable(name)} >>`),
      },
    },
    // The Pod Security level `restricted` requires these settings, which the official chart does not set.
    podTemplate: { merge: { spec: { securityContext: podSecurityContext } } },
    reloader: { merge: { securityContext: containerSecurityContext } },
    natsBox: { enabled: false },
    container: {
      merge: { securityContext: containerSecurityContext },
      env: Object.fromEntries(
        names.map((name) => [
          variable(name),
          { valueFrom: { secretKeyRef: { name: 'watchhouse-nats-users', key: name } } },
        ]),
      ),
    },
  }
}

const nonRootId = 1000
const podSecurityContext = {
  runAsNonRoot: true,
  runAsUser: nonRootId,
  runAsGroup: nonRootId,
  fsGroup: nonRootId,
  seccompProfile: { type: 'RuntimeDefault' },
}
const containerSecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Returns the configuration of a NATS server for development. The password of each user is the user name. */
export const createDevelopmentNatsConfig = (declared: NatsAccounts): object => ({
  port: 4222,
  http_port: 8222,
  jetstream: { store_dir: '/tmp/jetstream' },
  accounts: formatServerAccounts(declared, (user) => user),
})
