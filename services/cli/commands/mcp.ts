import { Command } from 'commander'
import { type CommandContext, resolveServer } from '../context.ts'
import { readHostUrl } from '../host-url.ts'
import { formatExamples, requireServicesNode } from '../options.ts'

interface McpOptions {
  clickhouseUrl?: string
  user?: string
}

/** Serves the MCP tools over standard input and output, for desktop clients. */
export const createMcpCommand = (context: CommandContext): Command =>
  new Command('mcp')
    .description('serve the MCP tools over standard input and output, for desktop clients')
    .option('--clickhouse-url <url>', 'read one ClickHouse host without a server')
    .option('--user <name>', 'user of the host (default: CLICKHOUSE_USER, else default)')
    .addHelpText('after', '\nThe password of the host is read from CLICKHOUSE_PASSWORD. All tools only read.')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse mcp',
        'CLICKHOUSE_PASSWORD=… watchhouse mcp --clickhouse-url https://clickhouse-1:8443 --user watch',
      ),
    )
    .action(async ({ clickhouseUrl, user }: McpOptions, command) => {
      const { relayMessages } = await import('../mcp/relay.ts')
      if (clickhouseUrl === undefined) {
        const { createRemoteServer } = await import('../mcp/remote-server.ts')
        const { version } = context
        return relayMessages(context, createRemoteServer({ ...resolveServer(context, command), version }))
      }
      requireServicesNode('mcp --clickhouse-url')
      const host = {
        url: readHostUrl(clickhouseUrl),
        user: user ?? (context.env.CLICKHOUSE_USER || 'default'),
        password: context.env.CLICKHOUSE_PASSWORD ?? '',
      }
      // The services take seconds to load, and the other mode does not need them.
      const { openLocalServer } = await import('../mcp/local-server.ts')
      const { version, env: variables, stderr: log } = context
      const server = await openLocalServer({ host, version, variables, log })
      try {
        await relayMessages(context, server)
      } finally {
        await server[Symbol.asyncDispose]()
      }
    })
