import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { retryUntil } from '../../testing/fetch-json.ts'
import { resolveChartToolsPath } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'
import { type Certificates, createCertificates } from './certificates.ts'
import { startClickHouse } from './clickhouse.ts'
import { applyObjects, type Cluster } from './cluster.ts'
import { runCommand } from './command.ts'
import { startControlPlane } from './control-plane.ts'
import { createImages, lastReleaseImage, productImage } from './images.ts'
import { saveKernelSettings } from './kernel-settings.ts'
import { buildLastRelease } from './last-release.ts'
import { connectMachines, type Machine, programs, startMachine } from './machine.ts'
import { nameServerObjects } from './name-server.ts'
import { enforceNetworkPolicies } from './network-policies.ts'
import { type Node, startNode } from './node.ts'
import { createVolumes } from './volumes.ts'

const readyWithinMs = 120_000

/**
 * Builds a cluster of two nodes on this machine. It has its own network, and Services, volumes and NetworkPolicies
 * like any other cluster. Disposing the scope removes it. Needs root.
 */
export const startOwnCluster = async (
  scope: AsyncDisposableStack,
  report: (line: string) => void,
  needsLastRelease: boolean,
): Promise<Cluster> => {
  if (process.getuid?.() !== 0) throw new Error('a cluster of its own needs root; or set KUBECONFIG and TEST_CLUSTER=1')
  await runScript('.ci/kubernetes', 'cluster')
  await runScript('.ci/chart-tools')
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-cluster-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  report(`logs and data of the cluster: ${folder}`)
  const lastRelease = needsLastRelease ? join(folder, 'last-release') : undefined
  if (lastRelease !== undefined) await buildLastRelease(lastRelease, report)
  const images = await createImages(join(folder, 'images'), lastRelease)
  report('images created')
  scope.use(await saveKernelSettings())
  const first = scope.use(await startMachine(1, folder))
  const second = scope.use(await startMachine(2, folder))
  await connectMachines(first, second)
  const machines = [first, second]
  const certificates = await createCertificates(join(folder, 'certificates'), machines)
  await startControlPlane(first, certificates)
  const [nodes] = await Promise.all([
    Promise.all(machines.map((machine) => startNode(machine, certificates, images))),
    startClickHouse(first),
  ])
  const running: Cluster = Object.assign(openClients(first, certificates, folder), {
    product: { image: productImage, chart: join(root, 'helm') },
    lastRelease: lastRelease === undefined ? undefined : { image: lastReleaseImage, chart: join(lastRelease, 'helm') },
    clickHouseAddress: first.address,
    kill: (namespace: string, pod: string) => kill(running, nodes, namespace, pod),
    prepareVolumes: () => createVolumes(running, machines),
  })
  scope.use(await enforceNetworkPolicies(machines, certificates))
  await awaitNodes(running, machines)
  await applyObjects(running, nameServerObjects)
  await running.kubectl(['-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=120s'])
  report('two nodes are ready')
  return running
}

/** Runs a script of the repository. Its progress is visible, because the first build takes long. */
const runScript = async (...[program = '', ...words]: string[]): Promise<void> => {
  const child = spawn(join(root, program), words, { stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'exit')
  if (child.exitCode !== 0) throw new Error(`${program} failed; it needs Go, and a network for its first build`)
}

/** Opens kubectl and helm. They run on the network of a machine, with the files of this machine. */
const openClients = ({ processId }: Machine, { client }: Certificates, folder: string) => {
  const environment = {
    KUBECONFIG: client('admin'),
    PATH: `${programs}:${resolveChartToolsPath()}:${process.env.PATH}`,
    HELM_CACHE_HOME: join(folder, 'helm'),
    HELM_CONFIG_HOME: join(folder, 'helm'),
    HELM_DATA_HOME: join(folder, 'helm'),
  }
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const enter = (...words: string[]) => [
    'nsenter',
    '--target',
    processId,
    '--net',
    '--',
    'env',
    ...assignments,
    ...words,
  ]
  return {
    kubectlCommand: (words: readonly string[]) => enter('kubectl', ...words),
    kubectl: ((words, options) => runCommand(enter('kubectl', ...words), options)) satisfies Cluster['kubectl'],
    helm: ((words, options) =>
      runCommand(enter('helm', ...words), { directory: root, ...options })) satisfies Cluster['helm'],
  }
}

const Placement = z.object({
  spec: z.object({ nodeName: z.string() }),
  status: z.object({ containerStatuses: z.tuple([z.object({ containerID: z.string() })]) }),
})

const kill = async (cluster: Cluster, nodes: readonly Node[], namespace: string, pod: string): Promise<void> => {
  const text = await cluster.kubectl(['-n', namespace, 'get', 'pod', pod, '-o', 'json'])
  const { spec, status } = Placement.parse(JSON.parse(text))
  const node = nodes.find(({ machine }) => machine.name === spec.nodeName)
  await node?.kill(status.containerStatuses[0].containerID.replace(/^.*:\/\//, ''))
}

const awaitNodes = (cluster: Cluster, machines: readonly Machine[]): Promise<string> =>
  retryUntil(
    () => cluster.kubectl(['get', 'nodes', '--no-headers']).catch(String),
    (text) => (text.match(/ Ready /g) ?? []).length === machines.length,
    readyWithinMs,
  )
