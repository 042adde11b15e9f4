import { setTimeout as wait } from 'node:timers/promises'
import type { CallContext, Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Gateway } from '../gateway.ts'
import { hash } from 'node:crypto'
import { AgentRunId } from '#proto/agent.ts'
import type { Store } from '#shared/store/store.ts'
import { computeOwnerId } from '../connections/user-connections.ts'

/** Maps chat ids to their latest run, so that a client can reconnect with its own chat id. */
export interface ChatRuns {
  store(chatId: string, identity: Identity, runId: string): Promise<void>
  /** Returns the run for a run id or a chat id; undefined when there is no recent run. */
  runOf(id: string, identity: Identity): Promise<string | undefined>
}

/** Retention of the mapping: longer than a run plus the retention of its events. */
const retentionMs = 15 * 60_000

export const openChatRuns = (store: Store): ChatRuns => ({
  store: async (chatId, identity, runId) => {
    await store.update(keyOf(chatId, identity), AgentRunId, () => ({ value: runId, expiresInMs: retentionMs }))
  },
  runOf: async (id, identity) => {
    const run = AgentRunId.safeParse(id)
    return run.success ? run.data : store.get(keyOf(id, identity), AgentRunId)
  },
})

/** Returns the store key of a chat. It includes the owner, because callers choose chat ids and two can be equal. */
const keyOf = (chatId: string, identity: Identity): string =>
  `gateway:chat:${computeOwnerId(identity)}:${hash('sha256', chatId, 'base64url')}`

/** A position in the events of a run. */
export interface RunPosition {
  runId: string
  /** Number of the last event that the caller has received. */
  after: number
}

/** Timeout of one read, longer than the agent waits for new events. */
const readTimeoutMs = 30_000
/** Consecutive failed reads after which the run counts as lost. Shorter failures can be temporary. */
const maxFailures = 3
const pauseMs = 1_000
/** SSE comment that keeps an idle connection open: clients ignore it, and proxies do not time out. */
const keepAlive = ': alive\n\n'

/**
 * Returns the events of a run as server-sent events, until it ends. The first read completes before this resolves, so
 * an unknown run fails the request. A run that is lost later ends the stream with `data-run-lost`.
 */
export const streamRunEvents = async (
  gateway: Pick<Gateway, 'agent' | 'clock'>,
  { runId, after }: RunPosition,
  call: CallContext,
): Promise<AsyncGenerator<Uint8Array, void, void>> => {
  const read = (from: number, trace?: CallContext['trace']) =>
    gateway.agent.read({ runId, after: from }, { ...call, trace, deadline: gateway.clock.elapsedMs() + readTimeoutMs })
  const first = await read(after, call.trace)
  // Further reads are polls, which get no spans.
  return eventsFrom(first, (from) => read(from), runId, call)
}

type RunRead = Awaited<ReturnType<Gateway['agent']['read']>>

async function* eventsFrom(
  first: RunRead,
  read: (after: number) => Promise<RunRead>,
  runId: string,
  { signal }: CallContext,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  let page = first
  for (let failures = 0; ;) {
    yield encoder.encode(page.events || keepAlive)
    if (page.ended) return
    try {
      page = await read(page.last)
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      failures += 1
      if (isFinal(error) || failures === maxFailures) return yield encoder.encode(runLostEvents(runId))
      page = { ...page, events: '' }
      await wait(pauseMs, undefined, { signal })
    }
  }
}

/** Returns whether a failed read must not be retried. Only `unavailable`, `timeout` and `busy` can be temporary. */
const isFinal = (error: unknown): boolean =>
  !(error instanceof ServiceError) ||
  !(error.code === 'unavailable' || error.code === 'timeout' || error.code === 'busy')

/** Returns the events that report a lost run. They have no SSE ids, because the agent did not send them. */
const runLostEvents = (runId: string): string => {
  const message = 'the agent process stopped; send the message again'
  const data = { code: 'run-lost', runId, message, retryable: true }
  return [
    { type: 'data-run-lost', id: 'run-lost', data },
    { type: 'error', errorText: message },
    { type: 'finish', finishReason: 'error' },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('')
}
