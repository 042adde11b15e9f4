import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../testing/fetch-json.ts'
import type { Cluster } from './cluster.ts'
import { readMessages } from './load.ts'

const pollMs = 1_000
const deliveredWithinMs = 180_000
/** Time in which a message that is sent twice arrives. */
const repeatedWithinMs = 30_000
/** Time before a kill in which a message may have been sent, but not yet recorded as sent. */
const unrecordedMs = 5_000
/** Components whose kill may make the product send a message twice. */
const recording = new Set(['alert-dispatcher', 'nats'])

/** A component that was killed, and when. */
export interface Kill {
  component: string
  atMs: number
}

/** How the messages to the webhook differ from the accepted alerts. */
export interface MessageComparison {
  lost: string[]
  /** Alerts of which no kill explains a second message. */
  needless: string[]
  /** The number of alerts that were sent again because of a kill. */
  needed: number
}

/** Compares the accepted alerts with the messages to the webhook, once these have arrived. */
export const compareMessages = async (
  cluster: Cluster,
  accepted: readonly string[],
  kills: readonly Kill[],
): Promise<MessageComparison> => {
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
