import { randomUUID } from 'node:crypto'
import type { ResponseBody, RouteBody } from '#proto/http/route.ts'
import type { Client } from '../../client/client.ts'
import { type CommandContext, createCommandClient, type Session } from '../context.ts'
import { forEachHost, type HostEntry, type HostResult } from '../hosts.ts'
import type { RowSink } from '../output/row-sinks.ts'
import { createLanes } from './lanes.ts'

/** A statement with its limits and parameters. */
export type Statement = Omit<RouteBody<'POST /api/v1/explorer/query'>, 'hostId' | 'runId'>
/** Cost and truncation of a statement. */
export type StatementMetadata = ResponseBody<'POST /api/v1/explorer/query'>['metadata']

interface Run {
  hosts: readonly HostEntry[]
  statement: Statement
  sink: RowSink
  /** Whether rows begin with the name of the host. */
  hasHostColumn: boolean
  /** The time limit of the response; undefined for that of the client. */
  timeoutMs: number | undefined
}

/** The column with the name of the host. */
const hostColumn = { name: '_host', type: 'String' }
/** How long Ctrl-C waits for the server to cancel the statement. */
const cancelWithinSeconds = 3

/**
 * Runs a statement on all hosts and writes the rows as they arrive. After Ctrl-C, cancels the runs on the server before it
 * fails.
 */
export const runStatement = async (
  context: CommandContext,
  session: Session,
  { hosts, statement, sink, hasHostColumn, timeoutMs }: Run,
): Promise<HostResult<StatementMetadata>[]> => {
  const { client, output } = session
  const lanes = createLanes(hosts.length, sink)
  const running = new Map<string, HostEntry>()
  const results = await forEachHost(hosts, async (host, index) => {
    const runId = randomUUID()
    running.set(runId, host)
    try {
      const body = { ...statement, hostId: host.id, runId }
      const request = { body, ...(timeoutMs !== undefined && { timeoutMs }) }
      const { columns, rows, metadata } = await client.rows('POST /api/v1/explorer/query', request)
      lanes.begin(index, hasHostColumn ? [hostColumn, ...columns] : columns)
      for await (const cells of rows) {
        lanes.push(index, hasHostColumn ? [host.name, ...cells] : cells)
        if (output.isBusy()) await output.drain(context.signal)
      }
      running.delete(runId)
      return metadata()
    } finally {
      lanes.end(index)
    }
  })
  if (context.signal.aborted) {
    const { url, apiKey } = client
    // The signal of the command ends every request of its own client.
    const unaborted = { ...context, signal: new AbortController().signal }
    await cancelRuns(createCommandClient(unaborted, { url, apiKey, timeout: cancelWithinSeconds }), running)
    context.signal.throwIfAborted()
  }
  return results
}

/** Cancels the runs. A run that has ended meanwhile is no failure. */
const cancelRuns = async (client: Client, running: ReadonlyMap<string, HostEntry>): Promise<void> => {
  await Promise.allSettled(
    [...running].map(([runId, { id }]) =>
      client.call('DELETE /api/v1/explorer/query/{runId}', { path: { runId }, query: { hostId: id } }),
    ),
  )
}
