import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

interface RawRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | undefined
}

/** Sends a request whose Host header can be set, which `fetch` does not allow. */
export const sendRawRequest = async (url: string, { method = 'GET', headers = {}, body }: RawRequest = {}) => {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const sending = request(url, { method, headers: { ...json, ...headers }, agent: false }).end(body)
  const [answer] = await once(sending, 'response')
  return { status: Number(answer.statusCode), headers: answer.headers, text: await text(answer) }
}
