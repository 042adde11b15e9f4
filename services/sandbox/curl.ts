/** One request as curl would send it: for tests that must see status, headers and bytes. */
export interface CurlOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  query?: Record<string, string | number>
  signal?: AbortSignal
}

/** The answer read whole. */
export interface CurlAnswer {
  status: number
  headers: Headers
  text: string
}

/** Sends SQL as the body of a POST, or in the URL of a GET, or with `body` as the data that follows it. */
export async function curl(url: string, sql: string, options: CurlOptions = {}): Promise<CurlAnswer> {
  const { method = 'POST', headers = {}, body, query = {}, signal } = options
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value))
  const inUrl = method === 'GET' || body !== undefined
  if (inUrl) address.searchParams.set('query', sql)
  const answer = await fetch(address, { method, headers, body: inUrl ? body : sql, signal })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** What a host says to a statement that works, without the white space at its end; throws what it says went wrong. */
export async function answerOf(url: string, sql: string, query: Record<string, string> = {}): Promise<string> {
  const { status, text } = await curl(url, sql, { query })
  if (status !== 200) throw new Error(text)
  return text.trimEnd()
}
