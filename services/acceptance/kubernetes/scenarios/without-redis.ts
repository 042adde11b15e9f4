import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { describeRequests, listFailures, type RequestResult, startRequests } from '../load.ts'
import { awaitWorkload, listPods, namespace, releaseName } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'

const awayMs = 30_000
const quietMs = 5_000
const pollMs = 2_000
const maxFailedPercent = 5
/** Requests that need the state that all processes share: they show the state of alerts. */
const kindsWithState = new Set(['alert-dispatcher'])
const redis = `statefulset/${releaseName}-redis`
const redisPod = `${releaseName}-redis-0`

/** Kills Redis, and then stops it for half a minute, under load. Only requests that need it may fail. */
export const runWithoutRedis = async (cluster: Cluster): Promise<Outcome> => {
  const load = startRequests(cluster)
  await wait(quietMs)
  await cluster.kill(namespace, redisPod)
  await awaitReadyPod(cluster)
  await cluster.kubectl(['-n', namespace, 'scale', redis, '--replicas=0'])
  const unready = await watchReadiness(cluster, awayMs)
  await cluster.kubectl(['-n', namespace, 'scale', redis, '--replicas=1'])
  await awaitWorkload(cluster, redis)
  await wait(quietMs)
  const results = await load.stop()
  const failed = results.filter(({ problem }) => problem !== '')
  const percent = (100 * failed.length) / results.length
  const wrong = [...new Set(failed.flatMap(({ kind }) => (kindsWithState.has(kind) ? [] : kind)))]
  return {
    measured: `${describeRequests(results)} (${percent.toFixed(1)} %), ${unready.length} pods unready without Redis`,
    problems: [
      ...problemIf(percent > maxFailedPercent, `more than ${maxFailedPercent} % of the requests failed`),
      ...problemIf(wrong.length > 0, `requests failed that need no Redis: ${wrong.join(', ')}`),
      ...problemIf(hasUnclearError(failed), 'a request failed without naming the state store'),
      ...problemIf(unready.length > 0, `unready: ${unready.join(', ')}`),
    ],
    details: listFailures(results),
  }
}

const hasUnclearError = (failed: readonly RequestResult[]): boolean =>
  failed.some(({ problem }) => !/^503 .*(?:store|Redis)/s.test(problem))

const awaitReadyPod = async (cluster: Cluster): Promise<void> => {
  await wait(pollMs)
  await cluster.kubectl(['-n', namespace, 'wait', `pod/${redisPod}`, '--for=condition=Ready', '--timeout=120s'])
}

/** Returns the pods that were unready during a period. Those of Redis itself do not count. */
const watchReadiness = async (cluster: Cluster, durationMs: number): Promise<string[]> => {
  const unready = new Set<string>()
  const until = performance.now() + durationMs
  while (performance.now() < until) {
    for (const { name, component, isReady } of await listPods(cluster))
      if (!isReady && component !== 'redis') unready.add(name)
    await wait(pollMs)
  }
  return [...unready]
}
