import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import {
  CancelRunResponse,
  ConsoleRunPath,
  CancelRunQuery,
  ConsoleResponse,
  ConsoleRequest,
} from '#proto/http/console.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import type { Gateway } from '../gateway.ts'
import { parseRequestInput } from '../request/parse.ts'
import { defineDeleteRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { resolveExportFormat, exportMediaTypes, createFileMetadata } from './table-export.ts'

const common = { feature: 'QUERIES', access: 'write', limit: 'data' } as const

type ConsoleRequest = z.output<typeof ConsoleRequest>

/** Runs SQL of the caller; rows are streamed as the host sends them. */
const runQuery: Route = {
  ...common,
  method: 'POST',
  path: '/api/v1/explorer/query',
  doc: 'Runs one read-only statement and streams the rows as JSON, csv, tsv or JSONEachRow, selected by `format` or `Accept`',
  downloads: exportMediaTypes,
  query: noQuery,
  body: ConsoleRequest,
  answer: ConsoleResponse,
  async respond({ body, call, preferred }, gateway, reply) {
    const { format: requestedFormat, ...request } = parseRequestInput(ConsoleRequest, body)
    const format = resolveExportFormat(requestedFormat, preferred)
    if (format) await reply.download(await file(request, format, call, gateway))
    else await reply.rows(await streamStatement(request, call, gateway))
  },
}

/** Runs a read-only statement and returns its rows as a stream. */
export const streamStatement = async (
  { hostId, ...request }: Omit<ConsoleRequest, 'format'>,
  call: CallContext,
  gateway: Gateway,
) => {
  const { key } = await gateway.hosts.find(hostId)
  const { head, frames, tail } = await gateway.query.streamQuery({ hostKey: key, ...request }, call)
  const metadata = () => ({ ...tail().statement, truncated: tail().truncated })
  return { columns: head.columns ?? [], frames, metadata }
}

const file = async (
  { hostId, ...request }: ConsoleRequest,
  format: ExportFormat,
  call: CallContext,
  gateway: Gateway,
) => {
  const { key, name } = await gateway.hosts.find(hostId)
  const { frames, tail } = await gateway.query.streamQuery({ hostKey: key, ...request, format }, call)
  return {
    ...createFileMetadata('query', name, format, gateway.clock),
    frames,
    trailers: () => ({
      'X-Result-Rows': String(tail().statement.rows),
      'X-Result-Truncated': String(tail().truncated !== null),
    }),
  }
}

/** Cancels a statement by the id that its caller chose. */
const cancelQuery = defineDeleteRoute({
  ...common,
  path: '/api/v1/explorer/query/{runId}',
  doc: 'Cancels a running statement of the same caller by its `runId`',
  query: CancelRunQuery,
  answer: CancelRunResponse,
  handle: async ({ path, query: { hostId }, call }, gateway) => {
    const { runId } = parseRequestInput(ConsoleRunPath, path)
    const { key, name } = await gateway.hosts.find(hostId)
    return createSuccessBody(await gateway.query.cancelQuery({ hostKey: key, runId }, call), { host: name })
  },
})

export const consoleRoutes: readonly Route[] = [runQuery, cancelQuery]
