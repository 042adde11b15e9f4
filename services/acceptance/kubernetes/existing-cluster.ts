import { runCommand } from './command.ts'
import type { Cluster } from './cluster.ts'
import { resolveChartToolsPath } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'

/**
 * Uses the cluster of `KUBECONFIG`, with the image that `TEST_CLUSTER_IMAGE` names as `repository:tag`. kubectl must be
 * on the search path. The cluster must have a default storage class and be able to pull the images.
 */
export const openExistingCluster = async (): Promise<Cluster> => {
  const [, repository, tag] = /^(.+):([^:/]+)$/.exec(process.env.TEST_CLUSTER_IMAGE ?? '') ?? []
  if (repository === undefined || tag === undefined)
    throw new Error('TEST_CLUSTER_IMAGE must name an image of the product that the cluster can pull, as repository:tag')
  const environment = { PATH: `${process.env.PATH}:${resolveChartToolsPath()}` }
  const cluster: Cluster = {
    image: { repository, tag },
    clickHouseAddress: process.env.TEST_CLUSTER_CLICKHOUSE,
    kubectlCommand: (words) => ['kubectl', ...words],
    kubectl: (words, options) => runCommand(['kubectl', ...words], options),
    helm: (words, options) => runCommand(['helm', ...words], { directory: root, environment, ...options }),
    // A kubelet ends a pod that is deleted without a grace period at once.
    kill: async (namespace, pod) => void (await cluster.kubectl(['-n', namespace, 'delete', 'pod', pod, ...atOnce])),
    prepareVolumes: async () => {},
  }
  await cluster.kubectl(['version'])
  return cluster
}

const atOnce = ['--grace-period=0', '--force', '--wait=false']
