import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyObjects, type Cluster } from './cluster.ts'

/** The namespace of what stands around the product: hosts, a webhook, and the servers of the fleet profile. */
export const surroundingsNamespace = 'surroundings'

/** The user with which the product connects to ClickHouse. */
export const monitoringUser = { name: 'watch', password: 'a-password' }

/** The addresses of the surroundings, from inside the cluster. */
export const surroundings = {
  clickHouse: `http://clickhouse.${surroundingsNamespace}:8123`,
  webhook: `http://webhook.${surroundingsNamespace}:3490`,
  redis: `redis://:secret@redis.${surroundingsNamespace}:6379`,
  postgres: `postgres://watchhouse:secret@postgres.${surroundingsNamespace}:5432/watchhouse`,
}

/** The Deployment in which the load runs. It also receives the messages of the product. */
export const testerName = 'tester'

const namespace = surroundingsNamespace
const startWithinSeconds = 300
/** The scripts that run in pods. */
const scripts = ['webhook.ts', 'requests.ts', 'alerts.ts']

/** Starts ClickHouse, unless it runs outside of the cluster, and the pod that sends requests and receives messages. */
export const startSurroundings = async (cluster: Cluster): Promise<void> => {
  const read = async (name: string) => [name, await readFile(join(import.meta.dirname, 'pods', name), 'utf8')] as const
  const data = Object.fromEntries(await Promise.all(scripts.map(read)))
  const { repository, tag } = cluster.product.image
  await applyObjects(cluster, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'scripts', namespace }, data },
    ...createServer(testerName, 3490, {
      image: `${repository}:${tag}`,
      command: ['node', '/scripts/webhook.ts'],
      env: [{ name: 'NODE_OPTIONS', value: '--no-warnings' }],
      volumeMounts: [{ name: 'scripts', mountPath: '/scripts' }],
      resources: { requests: { cpu: '100m', memory: '128Mi' } },
    }),
    createService('webhook', 3490, testerName),
    ...clickHouseObjects(cluster.clickHouseAddress),
  ])
  await awaitServers(cluster)
}

/** Starts Redis and PostgreSQL for the profile that needs servers of its operator. They start empty. */
export const startStores = async (cluster: Cluster): Promise<void> => {
  const redis = ['redis-server', '--requirepass', 'secret', '--maxmemory-policy', 'noeviction']
  const variables = { POSTGRES_USER: 'watchhouse', POSTGRES_DB: 'watchhouse', POSTGRES_PASSWORD: 'secret' }
  await applyObjects(cluster, [
    ...createServer('redis', 6379, {
      image: 'redis:8-alpine',
      command: [...redis, '--appendonly', 'yes', '--dir', '/data', '--save', ''],
    }),
    ...createServer('postgres', 5432, {
      image: 'postgres:17-alpine',
      securityContext: { runAsUser: 70, runAsGroup: 70 },
      env: Object.entries({ ...variables, PGDATA: '/data/pg' }).map(([name, value]) => ({ name, value })),
    }),
  ])
  await awaitServers(cluster)
}

export const removeSurroundings = async (cluster: Cluster): Promise<void> => {
  await cluster.kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--timeout=120s'])
}

const awaitServers = async (cluster: Cluster): Promise<void> => {
  const names = await cluster.kubectl(['-n', namespace, 'get', 'deployments', '-o', 'name'])
  for (const name of names.trim().split('\n'))
    await cluster.kubectl(['-n', namespace, 'rollout', 'status', name, `--timeout=${startWithinSeconds}s`])
}

interface Container {
  image: string
  command?: readonly string[]
  env?: readonly object[]
  volumeMounts?: readonly object[]
  resources?: object
  securityContext?: object
}

/** Returns a Deployment with one container, and its Service. */
const createServer = (name: string, port: number, container: Container): object[] => {
  const { volumeMounts = [] } = container
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'sockets', emptyDir: {} },
    { name: 'scripts', configMap: { name: 'scripts' } },
  ]
  const mounts = [
    ...volumeMounts,
    { name: 'data', mountPath: '/data' },
    { name: 'sockets', mountPath: '/var/run/postgresql' },
  ]
  const labels = { app: name }
  const spec = {
    securityContext: { fsGroup: 70 },
    containers: [{ name, imagePullPolicy: 'IfNotPresent', ...readiness(port), ...container, volumeMounts: mounts }],
    volumes,
  }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  }
  return [deployment, createService(name, port, name)]
}

const readiness = (port: number): object => ({ readinessProbe: { tcpSocket: { port }, periodSeconds: 2 } })

const createService = (name: string, port: number, app: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector: { app }, ports: [{ port }] },
})

/** Returns a Service for the server outside of the cluster, or a server with its Service. */
const clickHouseObjects = (address: string | undefined): object[] => {
  if (address === undefined) {
    const variables = { CLICKHOUSE_USER: monitoringUser.name, CLICKHOUSE_PASSWORD: monitoringUser.password }
    const env = Object.entries(variables).map(([name, value]) => ({ name, value }))
    return createServer('clickhouse', 8123, { image: 'clickhouse/clickhouse-server:25.8', env })
  }
  const labels = { 'kubernetes.io/service-name': 'clickhouse' }
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'clickhouse', namespace },
      spec: { ports: [{ port: 8123 }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'clickhouse-1', namespace, labels },
      addressType: 'IPv4',
      ports: [{ port: 8123 }],
      endpoints: [{ addresses: [address] }],
    },
  ]
}
