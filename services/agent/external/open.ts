import type { Logger } from 'pino'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxUserServers, type ProbedServer, type UserServer, type externalToolMethods } from '#proto/external-tools.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import type { AgentTool } from '../toolmaker.ts'
import { agentTool, type ServerPolicy } from './agent-tool.ts'
import { refusalOf, type AllowedEgress, isCrawlAllowed, isServerAllowed } from './allowed-domains.ts'
import { defaultWebCrawl, externalSettings } from './config.ts'
import { openProbes, type Probed } from './probes.ts'
import type { ToolServer } from './tool-server.ts'

/** Tools of servers that are not ours. */
export interface ExternalTools extends AsyncDisposable {
  /**
   * The tools of the web crawler and of the servers that the caller brings. A server that cannot be used has none. Throws `invalid`
   * for servers that cannot be told apart, and `forbidden` for guests who bring any.
   */
  tools(asked: readonly UserServer[], call: Call): Promise<readonly AgentTool[]>
  /** What a server that the caller brings offers. */
  probe(server: UserServer, call: Call): Promise<ProbedServer>
}

type Parts = Pick<Context, 'env' | 'net' | 'clock'> & { log: Logger }

/** No server of a caller is called so. */
const crawlerId = 'web_crawl'

/** Asks no server before somebody wants its tools. */
export const openExternalTools = ({ env, net, log, clock }: Parts): ExternalTools => {
  const probes = openProbes({ env, clock })
  const guarded = net.guarded('tool-server')
  const brought = ({ id, name, endpoint }: UserServer): ToolServer => ({
    id,
    name,
    endpoint: new URL(endpoint),
    send: guarded,
  })

  const crawler = async (): Promise<AgentTool[]> => {
    const { SVC_AGENT_WEB_CRAWL_MCP: isOn, SVC_AGENT_WEB_CRAWL_URL: endpoint = defaultWebCrawl } = read(
      externalSettings,
      env,
    )
    if (!isOn) return []
    const server = { id: crawlerId, name: 'the web crawler', endpoint, send: net.trusted }
    return toolsOf(server, await probes.of(server, { owner: '', as: 'old' }), crawlerPolicy(env))
  }

  const toolsOf = (server: ToolServer, probed: Probed, policy: ServerPolicy): AgentTool[] => {
    if ('offered' in probed) return probed.offered.tools.map((tool) => agentTool(server, tool, policy))
    log.info({ server: server.id, reason: probed.failure.code }, 'MCP server unavailable')
    return []
  }

  return {
    tools: async (asked, call) => {
      requireUserServersAllowed(asked, call)
      const lists = await Promise.all([
        crawler(),
        ...asked.map(async (each) => {
          const server = brought(each)
          const probed = await probes.of(server, { owner: ownerOf(call), as: 'believed' })
          return toolsOf(server, probed, broughtPolicy(env, server))
        }),
      ])
      return lists.flat()
    },
    probe: async (asked, call) => {
      requireUserServersAllowed([asked], call)
      const beganMs = performance.now()
      const probed = await probes.of(brought(asked), { owner: ownerOf(call), as: 'now' })
      return { ...shown(probed), tookMs: Math.round(performance.now() - beganMs) }
    },
    [Symbol.asyncDispose]: () => probes[Symbol.asyncDispose](),
  }
}

const crawlerPolicy = (env: Environment): ServerPolicy => ({
  refusal: (tool, input) => refusalOf(tool, input, read(externalSettings, env).SVC_AGENT_WEB_CRAWL_ALLOW_DOMAINS),
  isAllowed: (name, input) => isCrawlAllowed(name, input, egressAllowedBy(env)),
  allowedHosts: () => hostsOf(egressAllowedBy(env)),
})

const broughtPolicy = (env: Environment, { endpoint }: ToolServer): ServerPolicy => ({
  refusal: () => undefined,
  isAllowed: () => isServerAllowed(endpoint, egressAllowedBy(env)),
  allowedHosts: () => hostsOf(egressAllowedBy(env)),
})

const egressAllowedBy = (env: Environment): AllowedEgress => read(externalSettings, env).SVC_AGENT_EGRESS_ALLOWED
const hostsOf = ({ domains }: AllowedEgress): string[] => domains.map(({ host }) => host)

const ownerOf = ({ identity }: Call): string => `${identity.kind} ${identity.subject}`

/** Throws `invalid` for servers that cannot be told apart, and `forbidden` for guests who bring any. */
export const requireUserServersAllowed = (asked: readonly UserServer[], { identity }: Call): void => {
  const refuse = (sentence: string) => {
    throw new ServiceError('invalid', sentence, { details: { parameter: 'mcpServers' } })
  }
  if (asked.length > 0 && identity.kind === 'guest')
    throw new ServiceError('forbidden', 'guests cannot use their own MCP servers; sign in to use them')
  if (asked.length > maxUserServers) refuse(`mcpServers must have at most ${maxUserServers} items`)
  if (asked.some(({ id }) => id === crawlerId)) refuse(`mcpServers must not be called ${crawlerId}`)
  if (new Set(asked.map(({ id }) => id)).size < asked.length) refuse('mcpServers must have ids that differ')
}

const shown = (probed: Probed): Omit<ProbedServer, 'tookMs'> => {
  if ('failure' in probed) return { ok: false, error: probed.failure.message, tools: [], leftOut: 0 }
  const { tools, leftOut } = probed.offered
  const told = tools.map(({ tool: { name }, title, description }) => ({ name, title, description }))
  return { ok: true, error: null, tools: told, leftOut }
}

/** What callers are told of tool servers. */
export const externalHandlers = ({
  external,
}: {
  external: ExternalTools
}): Handlers<Service<typeof externalToolMethods>> => ({
  probeServer: (server, call) => external.probe(server, call),
})
