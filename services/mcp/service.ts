import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import type { Start } from '#shared/service.ts'
import packageFacts from '../../package.json' with { type: 'json' }
import { openCallTool } from './call-tool.ts'
import { handlers } from './handlers.ts'
import { openHttp } from './protocol/http.ts'
import { openServers } from './protocol/server.ts'
import { tools } from './tools/index.ts'

/** Serves the tools to models. */
export const start: Start = async ({ env, bus, telemetry }) => {
  await using opened = new AsyncDisposableStack()
  const callTool = openCallTool({ env, query: bus.client(query), telemetry })
  const serverFor = openServers({ tools, version: packageFacts.version, callTool })
  const http = opened.use(openHttp({ serverFor, log: telemetry.log }))
  opened.use(await bus.serve(mcp, handlers({ tools, callTool, http: http.answer })))
  telemetry.log.info({ tools: tools.length }, 'mcp serves')
  return opened.move()
}
