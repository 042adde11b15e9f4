import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { describeRequests, listFailures, requestsPerSecond, startRequests } from '../load.ts'
import { awaitWorkload, listWorkloads, namespace } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'

/** Time under load before the first and after the last restart. */
const quietMs = 5_000

/**
 * Restarts all Deployments and StatefulSets, one after another, under load. Each failed request counts as its share of a
 * second of unavailability.
 */
export const restartAll = async (cluster: Cluster, maxUnavailableSeconds: number): Promise<Outcome> => {
  const load = startRequests(cluster)
  await wait(quietMs)
  const details: string[] = []
  for (const workload of await listWorkloads(cluster)) {
    const startedMs = performance.now()
    const started = new Date().toISOString().slice(11, 19)
    await cluster.kubectl(['-n', namespace, 'rollout', 'restart', workload])
    await awaitWorkload(cluster, workload)
    details.push(`${started} ${workload} replaced in ${Math.round((performance.now() - startedMs) / 1_000)} s`)
  }
  await wait(quietMs)
  const results = await load.stop()
  const failed = results.filter(({ problem }) => problem !== '').length
  const seconds = failed / requestsPerSecond
  return {
    measured: `${describeRequests(results)}, ${seconds.toFixed(2)} s unavailable`,
    problems: problemIf(seconds > maxUnavailableSeconds, `unavailable for more than ${maxUnavailableSeconds} s`),
    details: [...details, ...listFailures(results)],
  }
}
