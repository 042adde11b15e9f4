import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type Variables,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type CallContext, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { findHost, type ToolContext } from '#shared/tools/tool.ts'
import { type CreateToolContext, formatToolError, HostIdText } from '../call-tool.ts'
import {
  type Complete,
  completeByPrefix,
  createDatabaseCompletion,
  createHostIdCompletion,
  findHostKey,
  type KnownVariables,
} from './complete-names.ts'
import { createResourceUris, type HostResource, type StaticResource } from '../resources/resources.ts'

/** Cache hint for data about hosts. It is private, because permissions differ by caller. */
const privateHint = { ttlMs: 10_000, cacheScope: 'private' } as const
const publicHint = { ttlMs: 300_000, cacheScope: 'public' } as const
const json = 'application/json'
const markdown = 'text/markdown'
const Names = z.object({ hostId: HostIdText.transform(Number) }).catchall(z.string().min(1).max(256))

interface ResourceOptions {
  references: readonly StaticResource[]
  facts: readonly HostResource[]
  contextFor: CreateToolContext
}

/** Registers the resources for one request: the static texts, and data about the first host and about any host. */
export const registerResources = (
  server: McpServer,
  call: CallContext,
  { references, facts, contextFor }: ResourceOptions,
): void => {
  for (const { name, uri, title, description, text } of references) {
    const config = { title, description, mimeType: markdown, cacheHint: publicHint }
    server.registerResource(name, uri, config, () => ({ contents: [{ uri, mimeType: markdown, text }] }))
  }
  const read = async (each: HostResource, { href }: URL, variables: Variables, signal: AbortSignal) => {
    const reading = contextFor({ ...call, signal: AbortSignal.any([call.signal, signal]) })
    try {
      requireFeature(call.identity, each.feature, `the resource ${each.name}`)
      const { hostId, ...names } = Names.parse(decoded(variables))
      const found = await each.read(names, await findHost(reading, hostId), reading)
      return { contents: [{ uri: href, mimeType: json, text: JSON.stringify(found) }] }
    } catch (error) {
      throw toProtocolError(error, href)
    }
  }
  const context = contextFor(call)
  const completeAny = completionsOf(context, true)
  const completeFirst = completionsOf(context, false)
  for (const each of facts) {
    const { name, path, title, description } = each
    const addresses = createResourceUris(path)
    const config = { title, description, mimeType: json, cacheHint: privateHint }
    const ofAny = new ResourceTemplate(addresses.ofAny, { list: undefined, complete: completeAny })
    server.registerResource(
      `host-${name}`,
      ofAny,
      { ...config, title: `${title}, of any host` },
      (uri, variables, { mcpReq }) => read(each, uri, variables, mcpReq.signal),
    )
    if (path.includes('{')) {
      const ofFirst = new ResourceTemplate(addresses.ofFirst, { list: undefined, complete: completeFirst })
      server.registerResource(name, ofFirst, config, (uri, variables, { mcpReq }) =>
        read(each, uri, variables, mcpReq.signal),
      )
    } else {
      server.registerResource(name, addresses.ofFirst, config, (uri, { mcpReq }) => read(each, uri, {}, mcpReq.signal))
    }
  }
}

/** Decodes the percent-encoded names of a URI. */
const decoded = (variables: Variables): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, decodeURIComponent(String(value))]))

const toProtocolError = (error: unknown, uri: string): unknown => {
  const isAbsent = error instanceof ServiceError && error.code === 'not-found'
  const sentence = error instanceof URIError ? 'the URI has invalid percent-encoding' : formatToolError(error)
  if (sentence === undefined) return error
  if (isAbsent || error instanceof URIError || error instanceof z.ZodError)
    return new ResourceNotFoundError(uri, sentence)
  return new ProtocolError(ProtocolErrorCode.InternalError, sentence)
}

/**
 * Returns the completions of the variables in a URI, read from the host of the URI. For URIs with a `hostId`, databases
 * and tables are completed only after `hostId` is set. All other URIs refer to the first host.
 */
const completionsOf = (context: ToolContext, ofAnyHost: boolean): Record<'hostId' | 'database' | 'table', Complete> => {
  const { query, call } = context
  const hostKey = ({ hostId = '' }: KnownVariables) => findHostKey(context, ofAnyHost ? hostId : '0')
  const completions = {
    hostId: createHostIdCompletion(context),
    database: createDatabaseCompletion(context, hostKey),
    table: completeByPrefix(async (known) => {
      const { database } = known
      if (database === undefined) return []
      const { rows } = await query.exploreTables({ hostKey: await hostKey(known), database }, call)
      return rows.map(({ name }) => name)
    }),
  }
  // The library looks up names that callers send, so inherited properties must not match.
  Object.setPrototypeOf(completions, null)
  return completions
}
