import { GenericContainer, getContainerRuntimeClient, ImageName, Network, Wait } from 'testcontainers'
import {
  keeper,
  keeperConfig,
  type ReplicaName,
  replicaNames,
  formatServerConfig,
  usersConfig,
} from './cluster-config.ts'

/** Two replicas of one ClickHouse version, with their Keeper. */
export interface Cluster extends AsyncDisposable {
  urls: Readonly<Record<ReplicaName, string>>
}

const httpPort = 8123
const startWithinMs = 180_000
const openFiles = { nofile: { soft: 262_144, hard: 262_144 } }

const images = (version: string) => ({
  server: `clickhouse/clickhouse-server:${version}`,
  keeper: `clickhouse/clickhouse-keeper:${version}`,
})

/** Pulls the images of a version. Throws if an image is unavailable. */
export const fetchImages = async (version: string): Promise<void> => {
  const { image } = await getContainerRuntimeClient()
  for (const address of Object.values(images(version))) {
    const name = ImageName.fromString(address)
    if (!(await image.exists(name))) await image.pull(name)
  }
}

export const startCluster = async (version: string): Promise<Cluster> => {
  await using opened = new AsyncDisposableStack()
  const network = await new Network().start()
  opened.defer(async () => void (await network.stop()))

  const coordinating = await new GenericContainer(images(version).keeper)
    .withNetwork(network)
    .withNetworkAliases(keeper.name)
    .withCopyContentToContainer([{ target: '/etc/clickhouse-keeper/keeper_config.xml', content: keeperConfig }])
    .withExposedPorts(keeper.port)
    .withStartupTimeout(startWithinMs)
    .start()
  opened.defer(async () => void (await coordinating.stop()))

  const start = async (replica: ReplicaName): Promise<string> => {
    const server = await new GenericContainer(images(version).server)
      .withNetwork(network)
      .withNetworkAliases(replica)
      .withHostname(replica)
      .withUlimits(openFiles)
      // Without this variable, newer images allow the user `default` only from inside the container.
      .withEnvironment({ CLICKHOUSE_SKIP_USER_SETUP: '1' })
      .withCopyContentToContainer([
        { target: '/etc/clickhouse-server/config.d/cluster.xml', content: formatServerConfig(replica) },
        { target: '/etc/clickhouse-server/users.d/default-user.xml', content: usersConfig },
      ])
      .withExposedPorts(httpPort)
      .withWaitStrategy(Wait.forHttp('/ping', httpPort))
      .withStartupTimeout(startWithinMs)
      .start()
    opened.defer(async () => void (await server.stop()))
    return `http://${server.getHost()}:${server.getMappedPort(httpPort)}`
  }
  const urls = { a: await start(replicaNames[0]), b: await start(replicaNames[1]) }
  const running = opened.move()
  return { urls, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
