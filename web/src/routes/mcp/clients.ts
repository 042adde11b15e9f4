/** An MCP client with its configuration for this server. */
export interface McpClient {
  id: string
  title: string
  /** Where the user enters the text: a terminal, or a configuration file. */
  place: string
  text: (server: McpEndpoint) => string
}

/** The MCP endpoint of this installation. */
export interface McpEndpoint {
  url: string
  /** Whether requests need an API key. */
  requiresKey: boolean
}

const name = 'watchhouse'
/** Placeholder for the API key of the user. */
const keyPlaceholder = 'svc_YOUR_KEY'
const headers = { Authorization: `Bearer ${keyPlaceholder}` }
const formatJson = (value: unknown): string => JSON.stringify(value, null, 2)
const withKey = ({ requiresKey }: McpEndpoint, more: object) => (requiresKey ? more : {})

/** Common MCP clients, in the order of the tabs. */
export const mcpClients: readonly McpClient[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    place: 'Run in a terminal.',
    text: ({ url, requiresKey }) =>
      `claude mcp add --transport http ${name} ${url}${requiresKey ? ` \\\n  --header "Authorization: Bearer ${keyPlaceholder}"` : ''}`,
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    place:
      'In claude_desktop_config.json, under Settings, Developer, Edit Config. Requires Node.js for the mcp-remote bridge.',
    text: (server) => {
      const header = server.requiresKey ? ['--header', `Authorization:\${KEY}`] : []
      const bridge = {
        command: 'npx',
        args: ['-y', 'mcp-remote', server.url, ...listPlainHttpFlags(server), ...header],
      }
      return formatJson({
        mcpServers: { [name]: { ...bridge, ...withKey(server, { env: { KEY: `Bearer ${keyPlaceholder}` } }) } },
      })
    },
  },
  {
    id: 'cursor',
    title: 'Cursor',
    place: 'In ~/.cursor/mcp.json, or .cursor/mcp.json in a project.',
    text: (server) => formatJson({ mcpServers: { [name]: { url: server.url, ...withKey(server, { headers }) } } }),
  },
  {
    id: 'vs-code',
    title: 'VS Code',
    place: 'In .vscode/mcp.json in a project. VS Code prompts for the key once and stores it.',
    text: (server) => {
      const input = { type: 'promptString', id: 'key', description: 'API key', password: true }
      const credentials = { headers: { Authorization: 'Bearer ${input:key}' } }
      return formatJson({
        ...withKey(server, { inputs: [input] }),
        servers: { [name]: { type: 'http', url: server.url, ...withKey(server, credentials) } },
      })
    },
  },
  {
    id: 'codex',
    title: 'Codex',
    place: 'In ~/.codex/config.toml. Set the key in the environment variable WATCHHOUSE_KEY.',
    text: ({ url, requiresKey }) =>
      `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}${requiresKey ? '\nbearer_token_env_var = "WATCHHOUSE_KEY"' : ''}`,
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    place: 'In ~/.gemini/settings.json.',
    text: (server) => formatJson({ mcpServers: { [name]: { httpUrl: server.url, ...withKey(server, { headers }) } } }),
  },
  {
    id: 'inspector',
    title: 'Inspector',
    place: 'Run in a terminal to list the tools.',
    text: ({ url, requiresKey }) =>
      [
        `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`,
        ...(requiresKey ? [`--header "Authorization: Bearer ${keyPlaceholder}"`] : []),
      ].join(' \\\n  '),
  },
  {
    id: 'curl',
    title: 'curl',
    place: 'Run in a terminal to list the tools.',
    text: ({ url, requiresKey }) =>
      [
        `curl ${url}`,
        `-H 'Content-Type: application/json'`,
        ...(requiresKey ? [`-H 'Authorization: Bearer ${keyPlaceholder}'`] : []),
        `-d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
      ].join(' \\\n  '),
  },
]

/** Returns the flag that `mcp-remote` requires for addresses without TLS, except localhost. */
const listPlainHttpFlags = ({ url }: McpEndpoint): string[] =>
  url.startsWith('http:') && new URL(url).hostname !== 'localhost' ? ['--allow-http'] : []
