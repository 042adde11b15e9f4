import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** The path of the webhook, which is part of its secret. */
export const secretPath = '/hooks/known-only-here'

/** A webhook and the texts of the messages that it received. */
export interface Receiver {
  url: string
  taken: string[]
}

/** Starts a webhook that accepts valid messages on the secret path and rejects all other requests. */
export const startReceiver = async (scope: AsyncDisposableStack): Promise<Receiver> => {
  const taken: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const isJson = request.headers['content-type'] === 'application/json'
    const isWanted = request.method === 'POST' && request.url === secretPath && isJson
    const message: unknown = isWanted ? JSON.parse(body) : {}
    const said = typeof message === 'object' && message !== null && 'text' in message ? message.text : undefined
    if (typeof said === 'string' && said !== '') taken.push(said)
    response.writeHead(typeof said === 'string' ? 200 : 404).end(typeof said === 'string' ? 'ok' : 'no_service')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('cannot start the receiver: the server has no port')
  return { url: `http://127.0.0.1:${address.port}`, taken }
}
