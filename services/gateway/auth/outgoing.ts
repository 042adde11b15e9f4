import { request } from 'undici'

/** Asks an address that the operator named, and gives the status and the JSON of its answer. Throws when there is none. */
export type AskJson = (url: string, asked?: { method: 'GET' | 'POST'; bearer?: string }) => Promise<JsonAnswer>

export interface JsonAnswer {
  status: number
  body: unknown
}

const timeoutMs = 5_000

export const askJson: AskJson = async (url, { method, bearer } = { method: 'GET' }) => {
  const headers = { accept: 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
  const { statusCode, body } = await request(url, { method, headers, signal: AbortSignal.timeout(timeoutMs) })
  return { status: statusCode, body: await body.json() }
}
