import { alerts } from '#proto/alerts.ts'
import type { Identity } from '#proto/call.ts'
import { ingest } from '#proto/ingest.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { createHostCache } from '#shared/hosts/known-hosts.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { CreateToolContext } from './call-tool.ts'
import { settings } from './config.ts'

const mcpIdentity: Identity = { kind: 'service', subject: 'mcp', features: 'all' }

/** Returns the function that creates the context of each tool call, with the clients of the services that tools call. */
export const openToolContexts = ({
  env,
  bus,
  clock,
}: Pick<ServiceContext, 'env' | 'bus' | 'clock'>): CreateToolContext => {
  const clients = {
    query: bus.client(query),
    report: bus.client(report),
    alerts: bus.client(alerts),
    ingest: bus.client(ingest),
  }
  const hosts = createHostCache(clients.query, clock, mcpIdentity).all
  const showsFullStatements = () => parseSettings(settings, env).SVC_MCP_FULL_STATEMENTS
  return (call) => ({ ...clients, hosts, clock, call, fullStatements: showsFullStatements() })
}
