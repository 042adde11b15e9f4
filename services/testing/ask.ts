import { setTimeout as wait } from 'node:timers/promises'

/** What the product answered, its body read as JSON. */
export interface Answered {
  status: number
  headers: Headers
  text: string
  body: unknown
  tookMs: number
}

const answersWithinMs = 60_000

/** One request to the product, or to whatever else speaks HTTP. */
export const ask = async (url: string, init: RequestInit = {}): Promise<Answered> => {
  const began = performance.now()
  const answer = await fetch(url, { signal: AbortSignal.timeout(answersWithinMs), ...init })
  const text = await answer.text()
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '')
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    tookMs: performance.now() - began,
  }
}

/** Rows of a statement put to the engine itself, past the product. */
export const askEngine = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const settings = 'output_format_json_quote_64bit_integers=0'
  const answer = await fetch(`${url}/?default_format=JSON&${settings}`, { method: 'POST', body: sql })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text === '' ? [] : JSON.parse(text).data
}

/** Repeats a question until its answer is the wanted one, and gives that answer. */
export const eventually = async <T>(
  question: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  withinMs = 15_000,
): Promise<T> => {
  const until = performance.now() + withinMs
  for (;;) {
    const answer = await question()
    if (isWanted(answer)) return answer
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms; last answer: ${JSON.stringify(answer)}`)
    await wait(pollMs)
  }
}

const pollMs = 25
