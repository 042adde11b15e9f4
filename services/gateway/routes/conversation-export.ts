import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Conversation } from '#proto/conversations.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { requireKeptHere } from '../conversations/kept-here.ts'
import { showing } from '../conversations/showing.ts'
import type { Gateway } from '../gateway.ts'
import type { Route } from '../route.ts'

const mediaType = 'application/x-ndjson'
/** As many pages as hold all that one person may have, and some more. */
const mostPages = 1_000

export const exportConversations: Route = {
  method: 'GET',
  path: '/api/v1/conversations/export',
  doc: 'Every conversation of the caller as a file, one JSON object a line, those changed last first',
  feature: 'AGENT',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: z.string(),
  mediaType,
  async respond({ call }, gateway, reply) {
    requireKeptHere(gateway, call.identity)
    const shown = await showing(gateway.hosts)
    let count = 0
    const lines = async function* () {
      for await (const conversation of everyConversation(gateway, call)) {
        count += 1
        yield new TextEncoder().encode(`${JSON.stringify(shown(conversation))}\n`)
      }
    }
    const day = new Date(gateway.clock.now()).toISOString().slice(0, 10)
    await reply.download({
      fileName: `conversations-${day}.jsonl`,
      contentType: mediaType,
      frames: lines(),
      trailerNames: ['X-Result-Rows'],
      trailers: () => ({ 'X-Result-Rows': String(count) }),
    })
  },
}

async function* everyConversation({ agent }: Gateway, call: Call): AsyncGenerator<Conversation, void, void> {
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { conversations, next } = await agent.exportConversations({ ...(cursor && { cursor }) }, call)
    yield* conversations
    if (next === null) return
    cursor = next
  }
}
