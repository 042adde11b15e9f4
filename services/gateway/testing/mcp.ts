import type { Handlers } from '#proto/contract.ts'
import type { mcp } from '#proto/mcp.ts'

/** A tool server that answers every request with what it was sent, and has one tool. */
export const fakeMcp: Handlers<typeof mcp> = {
  http: async ({ method, headers, body }, { identity }) => ({
    head: { status: 200, headers: { 'content-type': 'application/json' } },
    frames: framesOf(
      JSON.stringify({
        jsonrpc: '2.0',
        result: { method, headers, body: Buffer.from(body, 'base64').toString('utf8'), subject: identity.subject },
      }),
    ),
  }),
  offer: async () => ({
    tools: [{ name: 'query', title: 'Query', description: 'Runs a query.' }],
    resources: [{ uri: 'columndb://databases', title: 'Databases' }],
    prompts: [],
  }),
  tools: async () => [
    { name: 'query', title: 'Query', description: 'Runs a query.', inputSchema: {}, outputSchema: {} },
  ],
  call: async () => ({ isError: false, text: 'one row', structured: {} }),
}

async function* framesOf(text: string) {
  yield Buffer.from(text)
  return {}
}
