import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '../config/environment.ts'
import { parseSettings } from '../config/setting.ts'
import { NetFailure } from '../net/failure.ts'
import type { Net } from '../net/net.ts'
import { readRetryAfter } from '../net/retry-after.ts'
import { parseJson } from '../text/strings.ts'
import { convstoreSettings } from './config.ts'

/** A thread without its messages. Its metadata contains the fields of the conversation. */
const ThreadFacts = z.object({ id: z.string().min(1), external_id: z.string().nullish(), metadata: z.unknown() })
/** A thread with its messages. */
const Thread = ThreadFacts.extend({
  title: z.string().nullish(),
  messages: z.array(z.object({ metadata: z.unknown() })),
})
export type Thread = z.infer<typeof Thread>
const ThreadPage = z.object({
  data: z.array(ThreadFacts.extend({ title: z.string().nullish() })),
  pagination: z.object({ next_cursor: z.string().nullable() }),
})
export type ThreadPage = z.infer<typeof ThreadPage>

/** A stored message: `content` is its text, which the service can search, and `metadata` the original message. */
export interface ThreadMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  metadata: Record<string, unknown>
}

/** The content of a new thread. */
export interface NewThread {
  external_id: string
  title: string
  metadata: Record<string, unknown>
  messages: readonly ThreadMessage[]
}

/** Filter, order and page of a list of threads. */
export interface ThreadQuery {
  tag?: string
  order?: 'asc' | 'desc'
  limit: number
  cursor?: string | undefined
}

/** Maximum threads of one list or delete request. */
export const maxThreadsPerRequest = 100

/** Client of the conversation service. Throws `unavailable` or `busy`; errors never contain response bodies. */
export interface ThreadClient {
  byExternalId(externalId: string): Promise<Thread | undefined>
  /** Creates a thread and returns its id; undefined if a thread with this external id already exists. */
  create(thread: NewThread): Promise<string | undefined>
  /** Adds tags to a thread. Returns whether the service accepted them. */
  tag(id: string, ...tags: readonly string[]): Promise<boolean>
  append(id: string, messages: readonly ThreadMessage[]): Promise<void>
  update(id: string, facts: Partial<Pick<NewThread, 'title' | 'metadata'>>): Promise<void>
  remove(id: string): Promise<void>
  removeAll(ids: readonly string[]): Promise<void>
  /** Returns a page of threads; an empty page if the service rejects the tag. */
  list(wanted: ThreadQuery): Promise<ThreadPage>
  whole(ids: readonly string[]): Promise<Thread[]>
}

interface ThreadClientDeps {
  env: Environment
  net: Net
  log: Logger
}

const path = '/v1/conversations'
const formatThreadPath = (id: string, rest = '') => `${path}/${encodeURIComponent(id)}${rest}`

/** Opens a client of the configured service. */
export const openThreadClient = (place: ThreadClientDeps): ThreadClient => {
  const send = createRequester(place)
  const done = async (method: Method, to: string, body?: unknown) => void (await send(method, to, body, z.unknown()))
  return {
    byExternalId: (externalId) =>
      send('GET', `${path}/by-external-id/${encodeURIComponent(externalId)}`, undefined, Thread),
    async create(thread) {
      return (await send('POST', path, thread, ThreadFacts))?.id
    },
    tag: async (id, ...tags) =>
      (await send(
        'POST',
        formatThreadPath(id, '/tags'),
        { tags },
        z.unknown().transform(() => true),
        rejectedTagStatuses,
      )) ?? false,
    append: (id, messages) => done('POST', formatThreadPath(id, '/messages'), { messages }),
    update: (id, facts) => done('PUT', formatThreadPath(id), facts),
    remove: (id) => done('DELETE', formatThreadPath(id)),
    removeAll: (ids) => done('POST', `${path}/bulk-delete`, { ids }),
    async list({ tag, order = 'desc', limit, cursor }) {
      const wanted = { limit: String(limit), order, ...(tag && { tag }), ...(cursor && { cursor }) }
      const page = await send(
        'GET',
        `${path}?${new URLSearchParams(wanted)}`,
        undefined,
        ThreadPage,
        tag ? rejectedTagStatuses : missingOrDuplicateStatuses,
      )
      return page ?? { data: [], pagination: { next_cursor: null } }
    },
    async whole(ids) {
      const exported = await send('POST', `${path}/export`, { ids }, z.object({ data: z.array(Thread) }))
      return exported?.data ?? []
    },
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Maximum response size. A response contains each conversation twice: as messages and in metadata. */
const maxBytes = 16 * 1024 * 1024
const timeoutMs = 15_000

/** HTTP statuses for a thread that does not exist, and for one that already exists. */
const missingOrDuplicateStatuses = [404, 409]
/** HTTP statuses for a tag that is too long or has invalid characters. */
const rejectedTagStatuses = [400, 422]

/** Returns a function that sends one request. The function returns undefined if the status is one of `nothing`. */
const createRequester =
  ({ env, net, log }: ThreadClientDeps) =>
  async <S extends z.ZodType>(
    method: Method,
    to: string,
    body: unknown,
    schema: S,
    nothing: readonly number[] = missingOrDuplicateStatuses,
  ) => {
    const { CONVSTORE_API_KEY: key = '', CONVSTORE_BASE_URL: base } = parseSettings(convstoreSettings, env)
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const sent = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), timeoutMs, maxBytes }
    const { status, retryAfterMs, text } = await sendRequest(net, `${base.href.replace(/\/+$/, '')}${to}`, sent)
    if (nothing.includes(status)) return undefined
    if (status >= 200 && status < 300) return readAnswer(schema, text)
    // The response body is not logged, because it may repeat parts of a conversation.
    log.warn({ status, method }, 'AgentState rejected a request')
    throw toServiceError(status, retryAfterMs)
  }

const sendRequest = async (net: Net, url: string, sent: Parameters<Net['trusted']>[1]) => {
  try {
    const response = await net.trusted(url, sent)
    return { status: response.status, retryAfterMs: readRetryAfter(response.headers), text: await response.text() }
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw new ServiceError('unavailable', 'the conversation service (AgentState) is unreachable', {
      retryAfterMs: 1_000,
      cause: error,
    })
  }
}

const readAnswer = <S extends z.ZodType>(schema: S, text: string): z.output<S> => {
  const answer = schema.safeParse(parseJson(text))
  if (answer.success) return answer.data
  throw new ServiceError('unavailable', 'unexpected response from the conversation service (AgentState)')
}

const maxWaitMs = 60_000

const toServiceError = (status: number, retryAfterMs = maxWaitMs): ServiceError => {
  if (status === 401 || status === 403) {
    return new ServiceError(
      'unavailable',
      'the conversation service (AgentState) rejects the key; check CONVSTORE_API_KEY',
    )
  }
  if (status !== 429)
    return new ServiceError('unavailable', `unexpected status ${status} from the conversation service (AgentState)`)
  return new ServiceError('busy', 'the conversation service (AgentState) is rate limiting requests; try again', {
    retryAfterMs: Math.min(retryAfterMs, maxWaitMs),
  })
}
