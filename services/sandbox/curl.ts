/** A request as curl sends it, for tests that check the status, headers and bytes. */
export interface CurlOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  query?: Record<string, string | number>
  signal?: AbortSignal
}

/** A response with its complete body. */
export interface CurlAnswer {
  status: number
  headers: Headers
  text: string
}

/** Sends SQL as the body of a POST, in the URL of a GET, or in the URL with `body` as its data. */
export async function curl(url: string, sql: string, options: CurlOptions = {}): Promise<CurlAnswer> {
  const { method = 'POST', headers = {}, body, query = {}, signal } = options
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value))
  const inUrl = method === 'GET' || body !== undefined
  if (inUrl) address.searchParams.set('query', sql)
  const answer = await fetch(address, { method, headers, body: inUrl ? body : sql, signal })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Returns the response to a statement without trailing white space. Throws the error text of the host. */
export async function answerOf(url: string, sql: string, query: Record<string, string> = {}): Promise<string> {
  const { status, text } = await curl(url, sql, { query })
  if (status !== 200) throw new Error(text)
  return text.trimEnd()
}
