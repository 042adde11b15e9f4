import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'

/** A gateway that says what it is told to. */
export interface ModelGateway extends AsyncDisposable {
  url: string
  /** What the model is to say next; an error where there is a status. */
  next: { status?: number; content?: string | null }
  /** What it was asked, as it came. */
  asked: z.output<typeof Asked>[]
}

const Asked = z.looseObject({
  model: z.string(),
  messages: z.array(z.strictObject({ role: z.enum(['system', 'user']), content: z.string().min(1) })).min(1),
  max_tokens: z.int().min(1),
})

/** Chat completions on a port of its own; refuses whatever is no request for one. */
export const startModelGateway = async (): Promise<ModelGateway> => {
  const gateway: Pick<ModelGateway, 'next' | 'asked'> = { next: {}, asked: [] }
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString()
    const { status = 200, content = 'Slow merges' } = gateway.next
    response.setHeader('content-type', 'application/json')
    response.setHeader('x-should-retry', 'false')
    if (`${request.method} ${request.url}` !== 'POST /v1/chat/completions') return void response.writeHead(404).end()
    gateway.asked.push(Asked.parse(JSON.parse(text)))
    const error = { error: { message: 'account acme-7 is over its limit', code: status } }
    const message = { role: 'assistant', content }
    const answer = { id: 'a', object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message }] }
    response.writeHead(status).end(JSON.stringify(status === 200 ? answer : error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fake gateway has no port')
  return Object.assign(gateway, {
    url: `http://127.0.0.1:${address.port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
