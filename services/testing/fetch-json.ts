import { setTimeout as wait } from 'node:timers/promises'

/** An HTTP response with its body as text and parsed as JSON. */
export interface JsonResponse {
  status: number
  headers: Headers
  text: string
  body: unknown
  tookMs: number
}

const timeoutMs = 60_000

/** Sends an HTTP request and parses the response body if it is JSON. */
export const fetchJson = async (url: string, init: RequestInit = {}): Promise<JsonResponse> => {
  const startedMs = performance.now()
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), ...init })
  const text = await response.text()
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    tookMs: performance.now() - startedMs,
  }
}

/** Sends a statement with parameters directly to ClickHouse and returns its rows. Throws the error of the server. */
export const queryClickHouse = async (
  url: string,
  sql: string,
  parameters: Readonly<Record<string, string | number>> = {},
): Promise<Record<string, unknown>[]> => {
  const query = new URLSearchParams({ default_format: 'JSON', output_format_json_quote_64bit_integers: '0' })
  for (const [name, value] of Object.entries(parameters)) query.set(`param_${name}`, String(value))
  const response = await fetch(`${url}/?${query}`, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text === '' ? [] : JSON.parse(text).data
}

/** Repeats a request until its result is the expected one, and returns that result. Throws after `withinMs`. */
export const retryUntil = async <T>(
  request: () => Promise<T>,
  isExpected: (result: T) => boolean,
  withinMs = 15_000,
): Promise<T> => {
  const until = performance.now() + withinMs
  for (;;) {
    const result = await request()
    if (isExpected(result)) return result
    if (performance.now() > until)
      throw new Error(`condition not met within ${withinMs} ms; last result: ${JSON.stringify(result)}`)
    await wait(pollMs)
  }
}

const pollMs = 25
