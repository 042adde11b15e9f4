import { type NatsAccounts, natsAccounts, serverAccounts } from '#shared/bus/accounts.ts'
import { declaredContracts } from './services.ts'

/** The accounts of the product and what each NATS user may do, by its name. */
export const declaredAccounts = async (): Promise<NatsAccounts> => {
  const { contracts, events } = await declaredContracts()
  return natsAccounts(contracts, events)
}

/** Values for the official NATS chart, which give it the same accounts; passwords come from the Secret of the users. */
export const officialChartValues = (declared: NatsAccounts): object => {
  const names = Object.keys(declared.users)
  const variable = (name: string) => `NATS_PASSWORD_${name.replaceAll('-', '_').toUpperCase()}`
  return {
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, fileStore: { enabled: true, pvc: { size: '10Gi' } } },
      monitor: { enabled: true },
      merge: {
        max_payload: '<< 1MB >>',
        accounts: serverAccounts(declared, (name) => `<< $${variable(name)} >>`),
      },
    },
    // What the level `restricted` of Pod Security asks of a namespace's pods, which that chart leaves to its values.
    podTemplate: { merge: { spec: { securityContext: ofPod } } },
    reloader: { merge: { securityContext: ofContainer } },
    natsBox: { enabled: false },
    container: {
      merge: { securityContext: ofContainer },
      env: Object.fromEntries(
        names.map((name) => [
          variable(name),
          { valueFrom: { secretKeyRef: { name: 'watchhouse-nats-users', key: name } } },
        ]),
      ),
    },
  }
}

const nobody = 1000
const ofPod = {
  runAsNonRoot: true,
  runAsUser: nobody,
  runAsGroup: nobody,
  fsGroup: nobody,
  seccompProfile: { type: 'RuntimeDefault' },
}
const ofContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** A server for development, whose users have their own names as passwords. */
export const developmentServer = (declared: NatsAccounts): object => ({
  port: 4222,
  http_port: 8222,
  jetstream: { store_dir: '/tmp/jetstream' },
  accounts: serverAccounts(declared, (user) => user),
})
