import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import type { Cluster } from '../cluster.ts'
import { describeRequests, listFailures, readMessages, sendAlerts, startRequests } from '../load.ts'
import { listPods, namespace } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'

const alerts = 400
const alertsPerSecond = 2
/** The bar is 8 of 1,600 requests. */
const maxFailedShare = 8 / 1_600
const noticedMs = 3_000
const pollMs = 1_000
const readyWithinMs = 180_000
const deliveredWithinMs = 180_000
/** Time in which a message that is sent twice arrives. */
const repeatedWithinMs = 30_000
/** Time before a kill in which a message may have been sent, but not yet recorded as sent. */
const unrecordedMs = 5_000
/** Components whose kill may make the product send a message twice. */
const recording = new Set(['alert-dispatcher', 'nats'])

/** Kills each pod once, with SIGKILL, under load and while alerts arrive. No alert may be lost. */
export const killEachPod = async (cluster: Cluster): Promise<Outcome> => {
  const load = startRequests(cluster)
  const sending = sendAlerts(cluster, alerts, alertsPerSecond)
  const kills: Kill[] = []
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

interface Kill {
  component: string
  name: string
  atMs: number
}

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

/** Compares the accepted alerts with the messages to the webhook. */
const compareMessages = async (cluster: Cluster, accepted: readonly string[], kills: readonly Kill[]) => {
  const isComplete = async () => {
    await wait(pollMs)
    return findTimes(await readMessages(cluster), accepted)
  }
  const hasAll = (times: ReadonlyMap<string, number[]>) => accepted.every((name) => times.has(name))
  // The comparison below reports what is still missing.
  await retryUntil(isComplete, hasAll, deliveredWithinMs).catch(() => {})
  await wait(repeatedWithinMs)
  const times = findTimes(await readMessages(cluster), accepted)
  const duplicated = [...times].filter(([, each]) => each.length > 1)
  const isNeeded = ([firstMs = 0, ...others]: readonly number[]) =>
    kills.some(
      ({ component, atMs }) =>
        recording.has(component) && atMs > firstMs - unrecordedMs && atMs < (others.at(-1) ?? firstMs),
    )
  const needless = duplicated.filter(([, each]) => !isNeeded(each)).map(([name]) => name)
  return {
    lost: accepted.filter((name) => !times.has(name)),
    needless,
    needed: duplicated.length - needless.length,
  }
}

/** Returns when messages with the name of an alert have arrived, in order. */
const findTimes = (
  messages: readonly { atMs: number; text: string }[],
  accepted: readonly string[],
): Map<string, number[]> => {
  const names = new Set(accepted)
  const times = new Map<string, number[]>()
  for (const { atMs, text } of messages) {
    for (const name of new Set(text.match(/Drill-\d+-of-\d+/g) ?? []))
      if (names.has(name)) times.set(name, [...(times.get(name) ?? []), atMs])
  }
  return times
}
