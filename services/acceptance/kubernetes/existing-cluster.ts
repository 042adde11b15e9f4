import { join, resolve } from 'node:path'
import { runCommand } from './command.ts'
import type { Cluster, ProductVersion } from './cluster.ts'
import { resolveChartToolsPath } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'

/**
 * Uses the cluster of `KUBECONFIG`, with the image that `TEST_CLUSTER_IMAGE` names as `repository:tag`. Upgrades start
 * from the image in `TEST_CLUSTER_LAST_RELEASE` with the chart in the folder `TEST_CLUSTER_LAST_CHART`. kubectl must be
 * on the search path. The cluster must have a default storage class and be able to pull the images.
 */
export const openExistingCluster = async (): Promise<Cluster> => {
  const image = readImage('TEST_CLUSTER_IMAGE')
  if (image === undefined)
    throw new Error('TEST_CLUSTER_IMAGE must name an image of the product that the cluster can pull, as repository:tag')
  const lastImage = readImage('TEST_CLUSTER_LAST_RELEASE')
  const lastChart = process.env.TEST_CLUSTER_LAST_CHART
  const environment = { PATH: `${process.env.PATH}:${resolveChartToolsPath()}` }
  const cluster: Cluster = {
    product: { image, chart: join(root, 'helm') },
    lastRelease: lastImage && lastChart ? { image: lastImage, chart: resolve(lastChart) } : undefined,
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

const readImage = (variable: string): ProductVersion['image'] | undefined => {
  const [, repository, tag] = /^(.+):([^:/]+)$/.exec(process.env[variable] ?? '') ?? []
  return repository === undefined || tag === undefined ? undefined : { repository, tag }
}

const atOnce = ['--grace-period=0', '--force', '--wait=false']
