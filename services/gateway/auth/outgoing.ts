import type { Net } from '#shared/net/net.ts'

/** Asks an address that the operator named, and gives the status and the JSON of its answer. Throws when there is none. */
export type AskJson = (url: string, asked?: { method: 'GET' | 'POST'; bearer?: string }) => Promise<JsonAnswer>

export interface JsonAnswer {
  status: number
  body: unknown
}

const timeoutMs = 5_000

export const openAsk =
  (net: Net): AskJson =>
  async (url, { method, bearer } = { method: 'GET' }) => {
    const headers = { accept: 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
    const answer = await net.trusted(url, { method, headers, timeoutMs })
    return { status: answer.status, body: await answer.json() }
  }
