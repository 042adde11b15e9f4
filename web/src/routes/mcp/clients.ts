/** A program that speaks the protocol, and what makes it know this server. */
export interface Client {
  id: string
  title: string
  /** Where the text belongs. */
  place: string
  text: (server: Server) => string
}

/** How the server is reached. */
export interface Server {
  url: string
  /** Whether a key must be sent along. */
  wantsKey: boolean
}

const name = 'watchhouse'
/** Stands for a key, which no page can know. */
const key = 'svc_YOUR_KEY'
const headers = { Authorization: `Bearer ${key}` }
const json = (value: unknown): string => JSON.stringify(value, null, 2)
const withKey = ({ wantsKey }: Server, more: object) => (wantsKey ? more : {})

/** Programs that people use most, in the order of the tabs. */
export const clients: readonly Client[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    place: 'Run it in a terminal.',
    text: ({ url, wantsKey }) =>
      `claude mcp add --transport http ${name} ${url}${wantsKey ? ` \\\n  --header "Authorization: Bearer ${key}"` : ''}`,
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    place: 'In claude_desktop_config.json, under Settings, Developer, Edit Config. It needs Node.js, for the bridge.',
    text: (server) => {
      const header = server.wantsKey ? ['--header', `Authorization:\${KEY}`] : []
      const bridge = { command: 'npx', args: ['-y', 'mcp-remote', server.url, ...plain(server), ...header] }
      return json({ mcpServers: { [name]: { ...bridge, ...withKey(server, { env: { KEY: `Bearer ${key}` } }) } } })
    },
  },
  {
    id: 'cursor',
    title: 'Cursor',
    place: 'In ~/.cursor/mcp.json, or in .cursor/mcp.json of a project.',
    text: (server) => json({ mcpServers: { [name]: { url: server.url, ...withKey(server, { headers }) } } }),
  },
  {
    id: 'vs-code',
    title: 'VS Code',
    place: 'In .vscode/mcp.json of a project. It asks for the key once and keeps it.',
    text: (server) => {
      const input = { type: 'promptString', id: 'key', description: 'API key', password: true }
      const asked = { headers: { Authorization: 'Bearer ${input:key}' } }
      return json({
        ...withKey(server, { inputs: [input] }),
        servers: { [name]: { type: 'http', url: server.url, ...withKey(server, asked) } },
      })
    },
  },
  {
    id: 'codex',
    title: 'Codex',
    place: 'In ~/.codex/config.toml. The key is in a variable of the environment.',
    text: ({ url, wantsKey }) =>
      `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}${wantsKey ? '\nbearer_token_env_var = "WATCHHOUSE_KEY"' : ''}`,
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    place: 'In ~/.gemini/settings.json.',
    text: (server) => json({ mcpServers: { [name]: { httpUrl: server.url, ...withKey(server, { headers }) } } }),
  },
  {
    id: 'inspector',
    title: 'Inspector',
    place: 'Run it in a terminal: it lists the tools.',
    text: ({ url, wantsKey }) =>
      [
        `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`,
        ...(wantsKey ? [`--header "Authorization: Bearer ${key}"`] : []),
      ].join(' \\\n  '),
  },
  {
    id: 'curl',
    title: 'curl',
    place: 'Run it in a terminal: it lists the tools.',
    text: ({ url, wantsKey }) =>
      [
        `curl ${url}`,
        `-H 'Content-Type: application/json'`,
        ...(wantsKey ? [`-H 'Authorization: Bearer ${key}'`] : []),
        `-d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
      ].join(' \\\n  '),
  },
]

/** The bridge wants to be told that an address is meant to be one without TLS; of this machine it takes any. */
const plain = ({ url }: Server): string[] =>
  url.startsWith('http:') && new URL(url).hostname !== 'localhost' ? ['--allow-http'] : []
