import { hash } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type Insight, StoredInsight } from '#proto/insights.ts'
import { type Thread, type ThreadClient, type ThreadMessage, maxThreadsPerRequest } from '#shared/convstore/client.ts'
import type { InsightFilter, InsightStore } from './store.ts'

const dayMs = 86_400_000
/** Number of threads that one request fetches with messages. Each thread has the insights of one host and day. */
const threadsPerRequest = 5
const messagesPerRequest = 100
const maxPages = 20
/** Maximum attempts to write to a thread while other processes create the same one. */
const maxAttempts = 3

/** The tag of all insight threads. */
const commonTag = 'watchhouse-insights'
const createTag = (hostKey: string): string => `insights-${hash('sha256', hostKey).slice(0, 32)}`
const createThreadName = ({ hostKey, day }: Day): string => `watchhouse-insights:${hostKey}:${day}`

/** The host and the UTC day (days since 1970) of a thread. Threads of other applications do not have this metadata. */
const ThreadFacts = z.object({ watchhouseInsights: z.object({ hostKey: z.string(), day: z.int() }) })
type Day = z.infer<typeof ThreadFacts>['watchhouseInsights']
const MessageFacts = z.object({ watchhouseInsight: StoredInsight })

/** A thread with its host and day. */
interface DayThread extends Day {
  id: string
}

/**
 * Returns a store that uses the conversation service, with one thread per host and day. Each write appends one message
 * per insight, and the last message of an insight applies, so concurrent writers lose nothing. A scan needs only few
 * requests, because the service limits the request rate.
 */
export const createConvstoreInsightStore = (threads: ThreadClient): InsightStore => ({
  backend: 'convstore',
  list: (filter) => listInsights(threads, filter),
  async put(hostKey, insights) {
    const days = Map.groupBy(insights, ({ foundAtMs }) => Math.floor(foundAtMs / dayMs))
    for (const [day, found] of days) await appendInsights(threads, { hostKey, day }, found)
  },
  prune: (beforeMs) => prune(threads, beforeMs),
})

const listInsights = async (
  threads: ThreadClient,
  { hostKey, sinceMs, limit, ids }: InsightFilter,
): Promise<Insight[]> => {
  const days = (await listDayThreads(threads, createTag(hostKey)))
    .filter((each) => each.hostKey === hostKey && (each.day + 1) * dayMs > sinceMs)
    .toSorted((one, other) => other.day - one.day)
  const found: Insight[] = []
  for (
    let from = 0;
    from < days.length && found.length < Math.min(limit, ids?.length ?? limit);
    from += threadsPerRequest
  ) {
    const whole = await threads.whole(days.slice(from, from + threadsPerRequest).map(({ id }) => id))
    const wanted = whole
      .flatMap(parseInsights)
      .filter(({ id, foundAtMs }) => foundAtMs >= sinceMs && (ids === undefined || ids.includes(id)))
    found.push(...wanted)
  }
  return found.toSorted(compareNewestFirst).slice(0, limit)
}

const compareNewestFirst = (one: Insight, other: Insight): number =>
  other.foundAtMs - one.foundAtMs || (one.id < other.id ? -1 : 1)

/**
 * Returns the latest version of each insight in a thread. Messages that do not match the schema of this release are
 * skipped.
 */
const parseInsights = ({ messages }: Thread): Insight[] => {
  const stored = messages.flatMap(({ metadata }) => MessageFacts.safeParse(metadata).data?.watchhouseInsight ?? [])
  return [...new Map(stored.map((insight) => [insight.id, insight])).values()]
}

const appendInsights = async (threads: ThreadClient, day: Day, insights: readonly Insight[]): Promise<void> => {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const id = (await threads.byExternalId(createThreadName(day)))?.id ?? (await createThread(threads, day))
    if (id === undefined) continue
    for (let from = 0; from < insights.length; from += messagesPerRequest)
      await threads.append(id, insights.slice(from, from + messagesPerRequest).map(createMessage))
    return
  }
  throw new ServiceError('busy', 'other processes are writing insights of the same day; retry later', {
    retryAfterMs: 1_000,
  })
}

/** Creates the thread of a day and returns its id. Undefined if another process has created it in the meantime. */
const createThread = async (threads: ThreadClient, { hostKey, day }: Day): Promise<string | undefined> => {
  const title = `Insights of ${hostKey} on ${new Date(day * dayMs).toISOString().slice(0, 10)}`
  const metadata: z.input<typeof ThreadFacts> = { watchhouseInsights: { hostKey, day } }
  const id = await threads.create({ external_id: createThreadName({ hostKey, day }), title, metadata, messages: [] })
  if (id === undefined) return undefined
  try {
    if (await threads.tag(id, commonTag, createTag(hostKey))) return id
    throw new ServiceError(
      'unavailable',
      `the conversation service rejects the tags ${commonTag} and ${createTag(hostKey)}`,
    )
  } catch (error) {
    // Removes the thread, because lists would never return a thread without tags.
    await threads.remove(id)
    throw error
  }
}

const createMessage = (insight: Insight): ThreadMessage => ({
  role: 'assistant',
  content: insight.title || insight.kind,
  metadata: { watchhouseInsight: insight },
})

const listDayThreads = async (threads: ThreadClient, tag: string): Promise<DayThread[]> => {
  const days: DayThread[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { data, pagination } = await threads.list({ tag, limit: maxThreadsPerRequest, cursor })
    days.push(...data.flatMap(({ id, metadata }) => parseDayThread(id, metadata)))
    if (pagination.next_cursor === null) break
    cursor = pagination.next_cursor
  }
  return days
}

const parseDayThread = (id: string, metadata: unknown): DayThread[] => {
  const { data } = ThreadFacts.safeParse(metadata)
  return data ? [{ id, ...data.watchhouseInsights }] : []
}

/** Removes insights found before a time and returns their number. A thread that also has newer ones is replaced. */
const prune = async (threads: ThreadClient, beforeMs: number): Promise<number> => {
  let removed = 0
  const old = (await listDayThreads(threads, commonTag)).filter(({ day }) => day * dayMs < beforeMs)
  for (const day of old) {
    const [whole] = await threads.whole([day.id])
    const insights = whole ? parseInsights(whole) : []
    const young = insights.filter(({ foundAtMs }) => foundAtMs >= beforeMs)
    if (young.length === insights.length && young.length > 0) continue
    await threads.remove(day.id)
    if (young.length > 0) await appendInsights(threads, day, young)
    removed += insights.length - young.length
  }
  return removed
}
