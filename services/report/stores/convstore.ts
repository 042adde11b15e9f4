import { hash } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type Insight, StoredInsight } from '#proto/insights.ts'
import { type Thread, type ThreadClient, type ThreadMessage, threadsAtOnce } from '#shared/convstore/client.ts'
import type { InsightFilter, InsightStore } from './store.ts'

const dayMs = 86_400_000
/** Threads that are read whole at once, each with what a host had in a day. */
const wholeAtOnce = 5
const messagesAtOnce = 100
const mostPages = 20
/** How often somebody else may begin the same day while we do. */
const mostRaces = 3

/** What every thread of ours is tagged with, and those of one host. */
const tagOfAll = 'watchhouse-insights'
const tagOf = (hostKey: string): string => `insights-${hash('sha256', hostKey).slice(0, 32)}`
const nameOf = ({ hostKey, day }: Day): string => `watchhouse-insights:${hostKey}:${day}`

/** Of which host and UTC day, counted from 1970, a thread is; also how our threads are told from those of others. */
const Facts = z.object({ watchhouseInsights: z.object({ hostKey: z.string(), day: z.int() }) })
type Day = z.infer<typeof Facts>['watchhouseInsights']
const Said = z.object({ watchhouseInsight: StoredInsight })

/** A thread and the day it is of. */
interface DayThread extends Day {
  id: string
}

/**
 * Kept in the conversation service: a thread for each host and day, to which every writing adds messages; of one insight the last counts. So
 * nothing is lost when two processes write, and a round asks little of a service that counts requests.
 */
export const convstoreInsights = (threads: ThreadClient): InsightStore => ({
  backend: 'convstore',
  list: (filter) => list(threads, filter),
  async put(hostKey, insights) {
    const days = Map.groupBy(insights, ({ foundAtMs }) => Math.floor(foundAtMs / dayMs))
    for (const [day, found] of days) await add(threads, { hostKey, day }, found)
  },
  prune: (beforeMs) => prune(threads, beforeMs),
})

const list = async (threads: ThreadClient, { hostKey, sinceMs, limit, ids }: InsightFilter): Promise<Insight[]> => {
  const days = (await daysOf(threads, tagOf(hostKey)))
    .filter((each) => each.hostKey === hostKey && (each.day + 1) * dayMs > sinceMs)
    .toSorted((one, other) => other.day - one.day)
  const found: Insight[] = []
  for (let from = 0; from < days.length && found.length < Math.min(limit, ids?.length ?? limit); from += wholeAtOnce) {
    const whole = await threads.whole(days.slice(from, from + wholeAtOnce).map(({ id }) => id))
    const wanted = whole
      .flatMap(insightsIn)
      .filter(({ id, foundAtMs }) => foundAtMs >= sinceMs && (ids === undefined || ids.includes(id)))
    found.push(...wanted)
  }
  return found.toSorted(newestFirst).slice(0, limit)
}

const newestFirst = (one: Insight, other: Insight): number =>
  other.foundAtMs - one.foundAtMs || (one.id < other.id ? -1 : 1)

/** What a thread holds, each insight as it was written last; none that another release wrote in a way that this one cannot read. */
const insightsIn = ({ messages }: Thread): Insight[] => {
  const said = messages.flatMap(({ metadata }) => Said.safeParse(metadata).data?.watchhouseInsight ?? [])
  return [...new Map(said.map((insight) => [insight.id, insight])).values()]
}

const add = async (threads: ThreadClient, day: Day, insights: readonly Insight[]): Promise<void> => {
  for (let race = 0; race < mostRaces; race += 1) {
    const id = (await threads.byExternalId(nameOf(day)))?.id ?? (await begin(threads, day))
    if (id === undefined) continue
    for (let from = 0; from < insights.length; from += messagesAtOnce)
      await threads.append(id, insights.slice(from, from + messagesAtOnce).map(messageOf))
    return
  }
  throw new ServiceError('busy', 'insights are written from several places at once', { retryAfterMs: 1_000 })
}

/** Undefined when somebody else has begun it meanwhile. */
const begin = async (threads: ThreadClient, { hostKey, day }: Day): Promise<string | undefined> => {
  const title = `Insights of ${hostKey} on ${new Date(day * dayMs).toISOString().slice(0, 10)}`
  const metadata: z.input<typeof Facts> = { watchhouseInsights: { hostKey, day } }
  const id = await threads.create({ external_id: nameOf({ hostKey, day }), title, metadata, messages: [] })
  if (id === undefined) return undefined
  try {
    if (await threads.tag(id, tagOfAll, tagOf(hostKey))) return id
    throw new ServiceError('unavailable', 'the conversation service takes no tags')
  } catch (error) {
    // Without its tags it would be in no list.
    await threads.remove(id)
    throw error
  }
}

const messageOf = (insight: Insight): ThreadMessage => ({
  role: 'assistant',
  content: insight.title || insight.kind,
  metadata: { watchhouseInsight: insight },
})

const daysOf = async (threads: ThreadClient, tag: string): Promise<DayThread[]> => {
  const days: DayThread[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { data, pagination } = await threads.list({ tag, limit: threadsAtOnce, cursor })
    days.push(...data.flatMap(({ id, metadata }) => dayOf(id, metadata)))
    if (pagination.next_cursor === null) break
    cursor = pagination.next_cursor
  }
  return days
}

const dayOf = (id: string, metadata: unknown): DayThread[] => {
  const { data } = Facts.safeParse(metadata)
  return data ? [{ id, ...data.watchhouseInsights }] : []
}

/** Days that are over go whole; of the day that the time falls into, what is younger begins anew. */
const prune = async (threads: ThreadClient, beforeMs: number): Promise<number> => {
  let removed = 0
  const old = (await daysOf(threads, tagOfAll)).filter(({ day }) => day * dayMs < beforeMs)
  for (const day of old) {
    const [whole] = await threads.whole([day.id])
    const insights = whole ? insightsIn(whole) : []
    const young = insights.filter(({ foundAtMs }) => foundAtMs >= beforeMs)
    if (young.length === insights.length && young.length > 0) continue
    await threads.remove(day.id)
    if (young.length > 0) await add(threads, day, young)
    removed += insights.length - young.length
  }
  return removed
}
