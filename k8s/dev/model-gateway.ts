// A model gateway for development: it serves chat completions that repeat the last message, streamed by word.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const model = 'development/echo'
const port = 8080

const bodyOf = async (request: IncomingMessage): Promise<{ stream?: boolean; messages?: { content?: unknown }[] }> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text || '{}')
}

const chunk = (delta: object, end: string | null) => ({
  id: 'chatcmpl-development',
  object: 'chat.completion.chunk',
  created: Math.floor(Date.now() / 1_000),
  model,
  choices: [{ index: 0, delta, finish_reason: end }],
})

const stream = (response: ServerResponse, words: readonly string[]): void => {
  const send = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send(chunk({ role: 'assistant', content: '' }, null))
  for (const word of words) send(chunk({ content: `${word} ` }, null))
  send(chunk({}, 'stop'))
  const usage = { prompt_tokens: words.length, completion_tokens: words.length, total_tokens: 2 * words.length }
  send({ ...chunk({}, null), choices: [], usage })
  response.end('data: [DONE]\n\n')
}

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const json = (value: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (request.url?.endsWith('/models')) return void json({ object: 'list', data: [{ id: model, object: 'model' }] })
  const { messages = [], stream: streams } = await bodyOf(request)
  const last = messages.at(-1)?.content
  const text = `Your message: ${typeof last === 'string' ? last : JSON.stringify(last)}`
  if (streams) return stream(response, text.split(' '))
  const message = { role: 'assistant', content: text }
  json({ ...chunk({}, 'stop'), object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
}

createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(400).end())
}).listen(port)
