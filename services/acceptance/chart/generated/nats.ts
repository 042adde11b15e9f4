import { guestPermissions, type NatsPermissions, permissions } from '#shared/bus/permissions.ts'
import { declaredContracts } from './services.ts'

/** What each NATS user of the chart may say and hear, by its name. */
export const natsPermissions = async (): Promise<Record<string, NatsPermissions>> => {
  const { contracts, events } = await declaredContracts()
  return { ...permissions(contracts, events), ...guestPermissions(contracts, events) }
}

/** Values for the official NATS chart, which give it the same users; their passwords come from the Secret of the users. */
export const officialChartValues = (granted: Record<string, NatsPermissions>): object => {
  const names = Object.keys(granted)
  const variable = (name: string) => `NATS_PASSWORD_${name.replaceAll('-', '_').toUpperCase()}`
  return {
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, fileStore: { enabled: true, pvc: { size: '10Gi' } } },
      monitor: { enabled: true },
      merge: {
        max_payload: '<< 1MB >>',
        authorization: {
          users: names.map((name) => ({
            user: name,
            password: `<< $${variable(name)} >>`,
            permissions: granted[name],
          })),
        },
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
export const developmentServer = (granted: Record<string, NatsPermissions>): object => ({
  port: 4222,
  http_port: 8222,
  jetstream: { store_dir: '/tmp/jetstream' },
  authorization: {
    users: Object.entries(granted).map(([user, permissions]) => ({ user, password: user, permissions })),
  },
})
