import { setTimeout as wait } from 'node:timers/promises'

/** A response with its body parsed as JSON. */
export interface JsonResponse {
  status: number
  headers: Headers
  text: string
  body: unknown
  tookMs: number
}

const timeoutMs = 60_000

/** Sends one HTTP request and parses a JSON body. */
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

/** Returns the rows of a statement that is sent directly to ClickHouse. */
export const queryEngine = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const settings = 'output_format_json_quote_64bit_integers=0'
  const response = await fetch(`${url}/?default_format=JSON&${settings}`, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text === '' ? [] : JSON.parse(text).data
}

/** Repeats a request until its result is the expected one, and returns that result. */
export const eventually = async <T>(
  request: () => Promise<T>,
  isExpected: (result: T) => boolean,
  withinMs = 15_000,
): Promise<T> => {
  const until = performance.now() + withinMs
  for (;;) {
    const result = await request()
    if (isExpected(result)) return result
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms; last result: ${JSON.stringify(result)}`)
    await wait(pollMs)
  }
}

const pollMs = 25
