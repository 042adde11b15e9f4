import type { ServiceName } from '#proto/call.ts'
import type { ProductHost } from '../product.ts'
import { readServiceVariables } from '../../generate/chart/services.ts'

/** Options of a deployment for tests. */
export interface DeploymentOptions {
  hosts: readonly ProductHost[]
  /** Environment variables. The chart sets each of them for the services that read it. */
  variables: Readonly<Record<string, string>>
  /** Number of pods by service. Default: one. */
  replicas?: Partial<Record<ServiceName, number>>
  /** Further chart values. They override those derived from the other options. */
  values?: object
}

/** The address of NATS and the ports of the processes. */
export interface PodAddresses {
  /** host:port of a NATS server with TLS. */
  nats: string
  ports: { http: number; operations: number }
}

/** The name of the existing Secret that the values refer to. */
export const operatorSecretName = 'operator'

/** Variables that the chart sets from dedicated values instead of `settings` or `secrets`. */
const dedicatedValueVariables = new Set(['CRON_SECRET', 'SVC_STATE_DB_URL', 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY'])

/** Returns the chart values for a deployment. Throws if no service reads one of the variables. */
export const createChartValues = async (
  { hosts, variables, replicas = {}, values }: DeploymentOptions,
  { nats, ports }: PodAddresses,
): Promise<object> => {
  const known = await readServiceVariables()
  const placed = new Set(dedicatedValueVariables)
  const services = [...known].map(([name, { open, secret }]) => {
    const settings = Object.entries(variables).filter(([variable]) => open.includes(variable))
    const keys = Object.keys(variables).filter(
      (variable) => secret.includes(variable) && !dedicatedValueVariables.has(variable),
    )
    for (const variable of [...settings.map(([variable]) => variable), ...keys]) placed.add(variable)
    const secrets = keys.length > 0 ? { existingSecret: operatorSecretName, keys } : {}
    return [name, { settings: Object.fromEntries(settings), secrets, replicas: replicas[name] ?? 1 }] as const
  })
  const unplaced = Object.keys(variables).filter((variable) => !placed.has(variable))
  if (unplaced.length > 0) throw new Error(`no service reads these variables: ${unplaced.join(', ')}`)
  const blocks = Object.fromEntries(services)
  return {
    ports,
    hosts: hostValues(hosts),
    nats: { enabled: false, existingSecret: 'users', external: { server: nats, tls: true } },
    redis: { enabled: false, external: { existingSecret: operatorSecretName } },
    postgresql: { enabled: false, external: { existingSecret: operatorSecretName } },
    cron: { existingSecret: operatorSecretName },
    certificates: { existingSecret: 'certificate' },
    encryption: {
      existingSecret: variables.SVC_USER_CONNECTIONS_ENCRYPTION_KEY === undefined ? '' : operatorSecretName,
    },
    services: blocks,
    guest: { settings: blocks.query?.settings },
    ...values,
  }
}

/** Returns the chart values of the hosts: the list, and passwords by key. */
const hostValues = (hosts: readonly ProductHost[]) => {
  const passwords: Record<string, string> = {}
  const list = hosts.map(({ url, name, user = 'default', password }, index) => {
    const label = name ?? `host-${index}`
    if (!password) return { url, label, user }
    const passwordKey = `host-${index}`
    passwords[passwordKey] = password
    return { url, label, user, passwordKey }
  })
  return { list, passwords: { values: passwords } }
}
