import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  maxUserToolServers,
  type ToolServerProbeResult,
  type UserToolServer,
  type externalToolMethods,
} from '#proto/external-tools.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { AgentTool } from '../tool-sources.ts'
import { createAgentTool, type ServerPolicy } from './agent-tool.ts'
import { findCrawlRefusalReason, type EgressAllowlist, isCrawlAllowed, isServerAllowed } from './allowed-domains.ts'
import { defaultWebCrawlUrl, externalSettings } from './config.ts'
import { openToolListCache, type ToolListResult } from './tool-list-cache.ts'
import type { ToolServer } from './tool-server.ts'

/** Tools of external MCP servers. */
export interface ExternalTools extends AsyncDisposable {
  /**
   * Returns the tools of the web crawler and of the user-supplied servers. Unavailable servers are skipped. Throws
   * `invalid` for too many servers and for duplicate or reserved ids, and `forbidden` if a guest supplies servers.
   */
  tools(servers: readonly UserToolServer[], call: CallContext): Promise<readonly AgentTool[]>
  /** Fetches the tool list of a user-supplied server and returns it, or the reason for a failure. Ignores the cache. */
  probe(server: UserToolServer, call: CallContext): Promise<ToolServerProbeResult>
}

type ExternalToolsDeps = Pick<ServiceContext, 'env' | 'net' | 'clock'> & { log: Logger }

/** The reserved id of the web crawler. */
const crawlerId = 'web_crawl'

/** Opens the external tools. Servers are contacted on demand. */
export const openExternalTools = ({ env, net, log, clock }: ExternalToolsDeps): ExternalTools => {
  const probes = openToolListCache({ env, clock })
  const guarded = net.guarded('tool-server')
  const toolServerOf = ({ id, name, endpoint }: UserToolServer): ToolServer => ({
    id,
    name,
    endpoint: new URL(endpoint),
    send: guarded,
  })

  const crawler = async (): Promise<AgentTool[]> => {
    const { SVC_AGENT_WEB_CRAWL_MCP: isOn, SVC_AGENT_WEB_CRAWL_URL: endpoint = defaultWebCrawlUrl } = parseSettings(
      externalSettings,
      env,
    )
    if (!isOn) return []
    const server = { id: crawlerId, name: 'the web crawler', endpoint, send: net.trusted }
    return toolsOf(server, await probes.of(server, { owner: '', freshness: 'stale' }), createCrawlerPolicy(env))
  }

  const toolsOf = (server: ToolServer, probed: ToolListResult, policy: ServerPolicy): AgentTool[] => {
    if ('offered' in probed) return probed.offered.tools.map((tool) => createAgentTool(server, tool, policy))
    log.info({ server: server.id, reason: probed.failure.code }, 'MCP server unavailable')
    return []
  }

  return {
    tools: async (servers, call) => {
      requireUserServersAllowed(servers, call)
      const lists = await Promise.all([
        crawler(),
        ...servers.map(async (each) => {
          const server = toolServerOf(each)
          const probed = await probes.of(server, { owner: getCacheOwner(call), freshness: 'cached' })
          return toolsOf(server, probed, createUserServerPolicy(env, server))
        }),
      ])
      return lists.flat()
    },
    probe: async (server, call) => {
      requireUserServersAllowed([server], call)
      const startedMs = performance.now()
      const probed = await probes.of(toolServerOf(server), { owner: getCacheOwner(call), freshness: 'now' })
      return { ...toServerProbe(probed), tookMs: Math.round(performance.now() - startedMs) }
    },
    [Symbol.asyncDispose]: () => probes[Symbol.asyncDispose](),
  }
}

const createCrawlerPolicy = (env: Environment): ServerPolicy => ({
  refusal: (tool, input) =>
    findCrawlRefusalReason(tool, input, parseSettings(externalSettings, env).SVC_AGENT_WEB_CRAWL_ALLOW_DOMAINS),
  isAllowed: (name, input) => isCrawlAllowed(name, input, getAllowedEgress(env)),
  allowedHosts: () => listHosts(getAllowedEgress(env)),
})

const createUserServerPolicy = (env: Environment, { endpoint }: ToolServer): ServerPolicy => ({
  refusal: () => undefined,
  isAllowed: () => isServerAllowed(endpoint, getAllowedEgress(env)),
  allowedHosts: () => listHosts(getAllowedEgress(env)),
})

const getAllowedEgress = (env: Environment): EgressAllowlist =>
  parseSettings(externalSettings, env).SVC_AGENT_EGRESS_ALLOWED
const listHosts = ({ domains }: EgressAllowlist): string[] => domains.map(({ host }) => host)

const getCacheOwner = ({ identity }: CallContext): string => `${identity.kind} ${identity.subject}`

/** Throws `invalid` for too many servers and duplicate or reserved ids, and `forbidden` if a guest supplies servers. */
export const requireUserServersAllowed = (servers: readonly UserToolServer[], { identity }: CallContext): void => {
  const refuse = (sentence: string) => {
    throw new ServiceError('invalid', sentence, { details: { parameter: 'mcpServers' } })
  }
  if (servers.length > 0 && identity.kind === 'guest')
    throw new ServiceError('forbidden', 'guests cannot use their own MCP servers; sign in to use them')
  if (servers.length > maxUserToolServers) refuse(`mcpServers must have at most ${maxUserToolServers} items`)
  if (servers.some(({ id }) => id === crawlerId)) refuse(`mcpServers must not have the reserved id "${crawlerId}"`)
  if (new Set(servers.map(({ id }) => id)).size < servers.length) refuse('mcpServers must have unique ids')
}

const toServerProbe = (probed: ToolListResult): Omit<ToolServerProbeResult, 'tookMs'> => {
  if ('failure' in probed) return { ok: false, error: probed.failure.message, tools: [], leftOut: 0 }
  const { tools, leftOut } = probed.offered
  const listed = tools.map(({ tool: { name }, title, description }) => ({ name, title, description }))
  return { ok: true, error: null, tools: listed, leftOut }
}

/** Returns the handlers for external servers. */
export const createExternalHandlers = ({
  external,
}: {
  external: ExternalTools
}): ServiceHandlers<Service<typeof externalToolMethods>> => ({
  probeServer: (server, call) => external.probe(server, call),
})
