import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import type { Cluster } from '../cluster.ts'
import { compareMessages, type Kill } from '../compare-messages.ts'
import { describeRequests, listFailures, sendAlerts, startRequests } from '../load.ts'
import { listPods, namespace } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'

const alerts = 400
const alertsPerSecond = 2
/** The bar is 8 of 1,600 requests. */
const maxFailedShare = 8 / 1_600
const noticedMs = 3_000
const pollMs = 1_000
const readyWithinMs = 180_000

/** Kills each pod once, with SIGKILL, under load and while alerts arrive. No alert may be lost. */
export const killEachPod = async (cluster: Cluster): Promise<Outcome> => {
  const load = startRequests(cluster)
  const sending = sendAlerts(cluster, alerts, alertsPerSecond)
  const kills: (Kill & { name: string })[] = []
  for (const { name, component } of await listPods(cluster)) {
    kills.push({ component, name, atMs: Date.now() })
    await cluster.kill(namespace, name)
    await awaitReadyPods(cluster)
  }
  const results = await load.stop()
  const { accepted, repeated } = await sending
  const { lost, needless, needed } = await compareMessages(cluster, accepted, kills)
  const failed = results.filter(({ problem }) => problem !== '').length
  const ofAlerts = `${accepted.length} of ${alerts} alerts accepted (${repeated} repeated), ${lost.length} lost`
  return {
    measured: `${kills.length} pods killed, ${describeRequests(results)}; ${ofAlerts}, ${needless.length + needed} duplicated, ${needed} of them by a kill`,
    problems: [
      ...problemIf(failed > results.length * maxFailedShare, 'more than 8 of 1,600 requests failed'),
      ...problemIf(accepted.length < alerts, 'alerts were not accepted'),
      ...problemIf(lost.length > 0, `lost: ${lost.slice(0, 10).join(', ')}`),
      ...problemIf(needless.length > 0, `duplicated without need: ${needless.slice(0, 10).join(', ')}`),
    ],
    details: [...kills.map(({ name, atMs }) => `${formatClock(atMs)} killed ${name}`), ...listFailures(results)],
  }
}

const formatClock = (atMs: number): string => new Date(atMs).toISOString().slice(11, 19)

/** Waits until all pods are ready again. The cluster notices a killed process with a delay. */
const awaitReadyPods = async (cluster: Cluster): Promise<void> => {
  await wait(noticedMs)
  const isReady = async () => {
    const pods = await listPods(cluster)
    if (pods.every((pod) => pod.isReady)) return true
    await wait(pollMs)
    return false
  }
  await retryUntil(isReady, (ready) => ready, readyWithinMs)
}
