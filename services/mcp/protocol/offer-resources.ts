import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type Variables,
  type CompleteResourceTemplateCallback,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Call, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { hostAt, type ToolContext } from '#shared/tools/tool.ts'
import { sentenceOf } from '../call-tool.ts'
import { type ContextFor, WrittenHostId } from '../context.ts'
import { addressesOf, type Facts, type Reference } from '../resources/resources.ts'

/** As long as a model works at one question; who may read what differs by caller. */
const ofCaller = { ttlMs: 10_000, cacheScope: 'private' } as const
const ofAll = { ttlMs: 300_000, cacheScope: 'public' } as const
const json = 'application/json'
const markdown = 'text/markdown'
const Names = z.object({ hostId: WrittenHostId.transform(Number) }).catchall(z.string().min(1).max(256))

interface Offered {
  references: readonly Reference[]
  facts: readonly Facts[]
  contextFor: ContextFor
}

/** Offers references and facts, those of the first host and of any host, to the calls of one request. */
export const offerResources = (server: McpServer, call: Call, { references, facts, contextFor }: Offered): void => {
  for (const { name, uri, title, description, text } of references) {
    const config = { title, description, mimeType: markdown, cacheHint: ofAll }
    server.registerResource(name, uri, config, () => ({ contents: [{ uri, mimeType: markdown, text }] }))
  }
  const read = async (each: Facts, { href }: URL, variables: Variables, signal: AbortSignal) => {
    const reading = contextFor({ ...call, signal: AbortSignal.any([call.signal, signal]) })
    try {
      requireFeature(call.identity, each.feature, `the resource ${each.name}`)
      const { hostId, ...names } = Names.parse(decoded(variables))
      const found = await each.read(names, await hostAt(reading, hostId), reading)
      return { contents: [{ uri: href, mimeType: json, text: JSON.stringify(found) }] }
    } catch (error) {
      throw refusal(error, href)
    }
  }
  const context = contextFor(call)
  const completeAny = completionsOf(context, true)
  const completeFirst = completionsOf(context, false)
  for (const each of facts) {
    const { name, path, title, description } = each
    const addresses = addressesOf(path)
    const config = { title, description, mimeType: json, cacheHint: ofCaller }
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

/** Names stand in an address with their special characters encoded. */
const decoded = (variables: Variables): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, decodeURIComponent(String(value))]))

const refusal = (error: unknown, uri: string): unknown => {
  const isAbsent = error instanceof ServiceError && error.code === 'not-found'
  const sentence = error instanceof URIError ? 'the address is not encoded as addresses are' : sentenceOf(error)
  if (sentence === undefined) return error
  if (isAbsent || error instanceof URIError || error instanceof z.ZodError)
    return new ResourceNotFoundError(uri, sentence)
  return new ProtocolError(ProtocolErrorCode.InternalError, sentence)
}

type Known = Readonly<Record<string, string>>

/**
 * How the names in an address go on, as far as the host that is named beside them can tell. An address of any host leads nowhere
 * before its host is named; the other kind is always about the first.
 */
const completionsOf = (
  context: ToolContext,
  ofAnyHost: boolean,
): Record<'hostId' | 'database' | 'table', CompleteResourceTemplateCallback> => {
  const { query, call } = context
  const hostKey = async ({ hostId }: Known) => {
    const written = WrittenHostId.safeParse(ofAnyHost ? (hostId ?? '') : '0')
    if (!written.success) throw new ServiceError('invalid', 'no host is named')
    return (await hostAt(context, Number(written.data))).key
  }
  const completions = {
    hostId: beginning(async () => (await context.hosts()).map(({ id }) => String(id))),
    database: beginning(async (known) => {
      const { rows } = await query.exploreDatabases({ hostKey: await hostKey(known) }, call)
      return rows.map(({ name }) => name)
    }),
    table: beginning(async (known) => {
      const { database } = known
      if (database === undefined) return []
      const { rows } = await query.exploreTables({ hostKey: await hostKey(known), database }, call)
      return rows.map(({ name }) => name)
    }),
  }
  // Callers name what is completed, and the library looks it up in here, also by names that every object has.
  Object.setPrototypeOf(completions, null)
  return completions
}

/**
 * Those that begin as what is written already; none when what stands beside it leads nowhere. The library tells as many as the
 * protocol lets one completion tell, and how many there are.
 */
const beginning =
  (all: (known: Known) => Promise<string[]>): CompleteResourceTemplateCallback =>
  async (written, completion) => {
    try {
      return (await all(completion?.arguments ?? {})).filter((name) => name.startsWith(written))
    } catch (error) {
      if (error instanceof ServiceError) return []
      throw error
    }
  }
