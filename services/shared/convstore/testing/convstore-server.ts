import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { listenOnLoopback } from '../../net/testing/loopback-server.ts'

/** The API key that the fake service accepts, in the format of AgentState keys. */
export const convstoreKey = 'as_live_0123456789abcdefghijklmnopqrstuvwxyzABCD'

/** A thread as the service stores it. */
export interface StoredThread {
  id: string
  external_id: string | null
  title: string | null
  metadata: unknown
  created_at: number
  updated_at: number
  messages: (z.output<typeof Message> & { id: string })[]
  tags: string[]
}

/** A fake of AgentState with one project in memory, implemented from its documentation. */
export interface ConvstoreServer extends AsyncDisposable {
  url: string
  threads: Map<string, StoredThread>
  /** Method and path of every request. */
  received: string[]
  /** Requests that the documentation does not define. */
  misuses: string[]
  /** Error responses of failing requests, by a prefix of method and path. */
  failing: Map<string, { status: number; headers?: Record<string, string>; body?: string }>
}

const Message = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().min(1),
  metadata: z.record(z.string(), z.unknown()).optional(),
  token_count: z.int().min(0).optional(),
})
const Creation = z.strictObject({
  external_id: z.string().optional(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  messages: z.array(Message).optional(),
})
const Update = Creation.pick({ title: true, metadata: true })
const Appended = z.strictObject({ messages: z.array(Message).min(1) })
const Tags = z.strictObject({ tags: z.array(z.string().min(1).max(64)).min(1).max(50) })
const Ids = z.strictObject({ ids: z.array(z.string()).min(1).max(100) })
const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z
    .string()
    .regex(/^\d+\.\w+$/)
    .optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
  tag: z.string().max(64).optional(),
})

interface StoreRequest {
  query: URLSearchParams
  body: unknown
  names: string[]
}
type Answer = { status: number; json?: unknown }

/** Starts the fake service on a free port. It rejects tags that do not match `tagForm`. */
export const startConvstore = async (tagForm = /./): Promise<ConvstoreServer> => {
  const threads: ConvstoreServer['threads'] = new Map()
  const [received, misuses]: string[][] = [[], []]
  const failing: ConvstoreServer['failing'] = new Map()
  const state = openState(threads, tagForm)
  const routes = [...routesOfAll(state), ...routesOfOne(state)]
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
    const name = `${request.method} ${pathname}`
    received?.push(name)
    const bytes = Buffer.concat(await Array.fromAsync(request))
    const failure = [...failing].find(([prefix]) => name.startsWith(prefix))?.[1]
    if (failure) return void response.writeHead(failure.status, failure.headers).end(failure.body ?? '{}')
    const { status, json } = answerTo(request, { name, query: searchParams, bytes }, routes)
    if (status === 400 || status === 405) misuses?.push(name)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 204 ? undefined : JSON.stringify(json ?? { error: { code: String(status), message: '' } }))
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: `${origin}/api`,
    threads,
    received: received ?? [],
    misuses: misuses ?? [],
    failing,
    [Symbol.asyncDispose]: stop,
  }
}

type Routes = readonly (readonly [RegExp, (request: StoreRequest) => Answer])[]

const answerTo = (
  { headers }: IncomingMessage,
  { name, query, bytes }: { name: string; query: URLSearchParams; bytes: Buffer },
  routes: Routes,
): Answer => {
  if (headers.authorization !== `Bearer ${convstoreKey}`) return { status: 401 }
  if (bytes.length > 0 && headers['content-type'] !== 'application/json') return { status: 400 }
  for (const [pattern, answer] of routes) {
    const names = pattern.exec(name)?.slice(1).map(decodeURIComponent)
    if (names === undefined) continue
    try {
      return answer({ query, names, body: bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined })
    } catch {
      return { status: 400 }
    }
  }
  return { status: 405 }
}

/** Returns the state of the fake service. Its clock advances 1 ms per reading, so that changes have distinct times. */
const openState = (threads: ConvstoreServer['threads'], tagForm: RegExp) => {
  let atMs = 1_800_000_000_000
  let ids = 0
  return {
    threads,
    tagForm,
    now: () => (atMs += 1),
    kept: (messages: z.output<typeof Message>[] = []) =>
      messages.map((message) => ({ ...message, id: `m${(ids += 1)}` })),
    newId: () => `t${(ids += 1)}`,
  }
}
type State = ReturnType<typeof openState>

const routesOfAll = ({ threads, tagForm, now, kept, newId }: State): Routes => [
  [
    /^POST \/api\/v1\/conversations$/,
    ({ body }) => {
      const { external_id = null, title = null, metadata = null, messages } = Creation.parse(body)
      if (external_id !== null && [...threads.values()].some((each) => each.external_id === external_id))
        return { status: 409 }
      const [id, at] = [newId(), now()]
      const thread = { id, external_id, title, metadata, created_at: at, updated_at: at, tags: [] }
      threads.set(id, { ...thread, messages: kept(messages) })
      return { status: 201, json: whole(threads.get(id)) }
    },
  ],
  [
    /^GET \/api\/v1\/conversations$/,
    ({ query }) => {
      const wanted = ListQuery.parse(Object.fromEntries(query))
      return wanted.tag === undefined || tagForm.test(wanted.tag) ? list(threads, wanted) : { status: 422 }
    },
  ],
  [
    /^POST \/api\/v1\/conversations\/bulk-delete$/,
    ({ body }) => ({ status: 200, json: { deleted: Ids.parse(body).ids.filter((id) => threads.delete(id)).length } }),
  ],
  [
    /^POST \/api\/v1\/conversations\/export$/,
    ({ body }) => {
      const data = Ids.parse(body).ids.flatMap((id) => threads.get(id) ?? [])
      return { status: 200, json: { data: data.map(whole), count: data.length } }
    },
  ],
  [
    /^GET \/api\/v1\/conversations\/by-external-id\/([^/]+)$/,
    ({ names: [name] }) => {
      const thread = [...threads.values()].find(({ external_id }) => external_id === name)
      return thread ? { status: 200, json: whole(thread) } : { status: 404 }
    },
  ],
]

const routesOfOne = ({ threads, tagForm, now, kept }: State): Routes => {
  const of =
    (answer: (thread: StoredThread, body: unknown) => Answer) =>
    ({ names: [id = ''], body }: StoreRequest): Answer => {
      const thread = threads.get(id)
      return thread ? answer(thread, body) : { status: 404 }
    }
  return [
    [
      /^PUT \/api\/v1\/conversations\/([^/]+)$/,
      of((thread, body) => {
        Object.assign(thread, Update.parse(body), { updated_at: now() })
        return { status: 200, json: summaryOf(thread) }
      }),
    ],
    [/^DELETE \/api\/v1\/conversations\/([^/]+)$/, of(({ id }) => ({ status: threads.delete(id) ? 204 : 404 }))],
    [
      /^POST \/api\/v1\/conversations\/([^/]+)\/messages$/,
      of((thread, body) => {
        thread.messages.push(...kept(Appended.parse(body).messages))
        thread.updated_at = now()
        return { status: 201, json: { messages: [] } }
      }),
    ],
    [
      /^POST \/api\/v1\/conversations\/([^/]+)\/tags$/,
      of((thread, body) => {
        const { tags } = Tags.parse(body)
        if (!tags.every((tag) => tagForm.test(tag))) return { status: 422 }
        thread.tags = [...new Set([...thread.tags, ...tags])]
        return { status: 201, json: { data: { tags: thread.tags } } }
      }),
    ],
  ]
}

const summaryOf = ({ messages, tags: _tags, ...thread }: StoredThread) => ({
  ...thread,
  project_id: 'p',
  message_count: messages.length,
  token_count: 0,
})

const whole = (thread: StoredThread | undefined) => thread && { ...summaryOf(thread), messages: thread.messages }

const list = (
  threads: ConvstoreServer['threads'],
  { limit, cursor, order, tag }: z.output<typeof ListQuery>,
): Answer => {
  const sign = order === 'asc' ? 1 : -1
  const [after = ''] = cursor?.split('.') ?? []
  const found = [...threads.values()]
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .toSorted((one, other) => sign * (one.updated_at - other.updated_at))
    .filter(({ updated_at }) => cursor === undefined || sign * (updated_at - Number(after)) > 0)
  const data = found.slice(0, limit)
  const last = data.at(-1)
  const next_cursor = last && found.length > limit ? `${last.updated_at}.${last.id}` : null
  return { status: 200, json: { data: data.map(summaryOf), pagination: { limit, next_cursor } } }
}
