/** Options of an HTTP request, for tests that check the status, headers and bytes of the response. */
export interface CurlOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  query?: Record<string, string | number>
  signal?: AbortSignal
}

/** A response with its complete body. */
export interface CurlResponse {
  status: number
  headers: Headers
  text: string
}

/** Sends SQL in the body of a POST. For a GET, or with data in `body`, the SQL is sent in the URL. */
export async function curl(url: string, sql: string, options: CurlOptions = {}): Promise<CurlResponse> {
  const { method = 'POST', headers = {}, body, query = {}, signal } = options
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value))
  const inUrl = method === 'GET' || body !== undefined
  if (inUrl) address.searchParams.set('query', sql)
  const answer = await fetch(address, { method, headers, body: inUrl ? body : sql, signal })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Returns the response to a statement without trailing white space. Throws if the status is not 200. */
export async function fetchText(url: string, sql: string, query: Record<string, string> = {}): Promise<string> {
  const { status, text } = await curl(url, sql, { query })
  if (status !== 200) throw new Error(text)
  return text.trimEnd()
}
