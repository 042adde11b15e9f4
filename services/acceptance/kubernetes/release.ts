import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { applyObjects, type Cluster, type ProductVersion } from './cluster.ts'
import { monitoringUser, surroundings, surroundingsNamespace } from './surroundings.ts'

/** A way to run the product that the README of the chart describes. */
export type Profile = 'default' | 'fleet' | 'single'

/** The release of a profile, and its namespace. */
export const releaseName = 'watchhouse'
export const namespace = 'watchhouse'
/** The address of the product, from inside the cluster. */
export const productUrl = `http://${releaseName}.${namespace}`
/** The secret of those that send alerts. */
export const senderToken = 'token-of-the-senders'

const valuesFiles = { default: 'values.yaml', fleet: 'values-ha.yaml', single: 'values-single.yaml' }
const readyWithinSeconds = 600

/** The Secrets that operators provide, of all profiles. */
export const providedSecrets = [
  'clickhouse-passwords',
  'watchhouse-encryption',
  'watchhouse-redis',
  'watchhouse-postgresql',
]

/** Creates the namespace with the Pod Security level `restricted`, and the Secrets that operators provide. */
export const prepareNamespace = async (cluster: Cluster, profile: Profile): Promise<void> => {
  const level = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' }
  const secret = (name: string, stringData: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  const ofStores = [
    secret('watchhouse-redis', { REDIS_URL: surroundings.redis }),
    secret('watchhouse-postgresql', { SVC_STATE_DB_URL: surroundings.postgres }),
  ]
  await applyObjects(cluster, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: level } },
    secret('clickhouse-passwords', { one: monitoringUser.password }),
    secret('watchhouse-encryption', { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: randomBytes(32).toString('hex') }),
    ...(profile === 'fleet' ? ofStores : []),
  ])
}

/** Values of the host list, as in the README. */
const hostValues = {
  hosts: {
    list: [{ url: surroundings.clickHouse, label: 'one', user: monitoringUser.name, passwordKey: 'one' }],
    passwords: { existingSecret: 'clickhouse-passwords' },
  },
  encryption: { existingSecret: 'watchhouse-encryption' },
}

/** Returns values without which the product limits or rejects the load of a test, or cannot reach its webhook. */
const createLoadValues = (profile: Profile): object => {
  const unlimited = '1000000'
  const settings = {
    RATE_LIMIT_API_PER_MIN: unlimited,
    RATE_LIMIT_MCP_PER_MIN: unlimited,
    RATE_LIMIT_INGEST_PER_MIN: unlimited,
    SVC_MCP_PUBLIC: 'true',
  }
  const gateway = { settings, secrets: { values: { SVC_EVENTS_INGEST_TOKEN: senderToken } } }
  const receiver = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': surroundingsNamespace } } }
  const dispatcher = {
    secrets: { values: { HEALTH_ALERT_WEBHOOK_URL: surroundings.webhook } },
    extraEgress: [{ ports: [{ protocol: 'TCP', port: 3490 }], to: [receiver] }],
  }
  return profile === 'single' ? {} : { services: { gateway, 'alert-dispatcher': dispatcher } }
}

/** Installs or upgrades the release of a profile: as the README states, or with what a load needs too. */
export const applyRelease = async (
  cluster: Cluster,
  verb: 'install' | 'upgrade',
  profile: Profile,
  { load, version = cluster.product }: { load?: 'for load'; version?: ProductVersion } = {},
): Promise<void> => {
  const values = { ...hostValues, ...(load === undefined ? {} : createLoadValues(profile)) }
  const { chart, image } = version
  const setImage = `image.repository=${image.repository},image.tag=${image.tag}`
  const words = [verb, releaseName, chart, '--namespace', namespace, '--set', setImage]
  const input = JSON.stringify(values)
  await cluster.helm([...words, '--values', join(chart, valuesFiles[profile]), '--values', '-'], { input })
}

/** Returns to the version that was installed first. */
export const rollBack = async (cluster: Cluster): Promise<void> => {
  await cluster.helm(['rollback', releaseName, '1', '--namespace', namespace])
}

/** Returns the Deployments and StatefulSets of the product, as `deployment.apps/<name>`. */
export const listWorkloads = async (cluster: Cluster): Promise<string[]> => {
  const text = await cluster.kubectl(['-n', namespace, 'get', 'deployments,statefulsets', '-o', 'name'])
  return text.trim().split('\n')
}

/** Waits until a workload has only ready pods of its last configuration. */
export const awaitWorkload = async (cluster: Cluster, name: string): Promise<void> => {
  const words = ['rollout', 'status', name, `--timeout=${readyWithinSeconds}s`]
  await cluster.kubectl(['-n', namespace, ...words], { timeoutMs: (readyWithinSeconds + 10) * 1_000 })
}

/** Waits until all pods of the product are ready. */
export const awaitRelease = async (cluster: Cluster): Promise<void> => {
  for (const name of await listWorkloads(cluster)) await awaitWorkload(cluster, name)
}

const Pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
      status: z.object({
        phase: z.string(),
        containerStatuses: z
          .array(z.object({ restartCount: z.number(), ready: z.boolean(), containerID: z.string().default('') }))
          .default([]),
      }),
    }),
  ),
})

/** A pod of the product that runs until it is stopped. */
export interface ProductPod {
  name: string
  /** The service or server that it runs. */
  component: string
  restarts: number
  isReady: boolean
}

/** Returns the pods of the product, without those of finished jobs. */
export const listPods = async (cluster: Cluster): Promise<ProductPod[]> => {
  const { items } = Pods.parse(JSON.parse(await cluster.kubectl(['-n', namespace, 'get', 'pods', '-o', 'json'])))
  return items.flatMap(({ metadata, status }) => {
    const component = metadata.labels['app.kubernetes.io/component'] ?? ''
    if (component === 'caller' || /^(Succeeded|Failed)$/.test(status.phase)) return []
    const restarts = status.containerStatuses.reduce((total, { restartCount }) => total + restartCount, 0)
    const isReady = status.containerStatuses.length > 0 && status.containerStatuses.every(({ ready }) => ready)
    return [{ name: metadata.name, component, restarts, isReady }]
  })
}
