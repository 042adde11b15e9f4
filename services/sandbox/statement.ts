import { request } from 'node:http'
import { text } from 'node:stream/consumers'

/** A function that sends a statement to the engine over HTTP and returns the response. */
export type StatementExecutor = (sql: string, how?: StatementOptions) => Promise<string>

/** The user, settings and data of a statement. `settings` may include query parameters, such as `param_variant`. */
export interface StatementOptions {
  user?: { user: string; password: string }
  settings?: Record<string, string | number>
  data?: string
}

/** Thrown for a response with a status other than 200. The message is the exception of the engine. */
export class StatementError extends Error {
  override name = 'StatementError'
}

const STATEMENT_TIMEOUT_MS = 60_000

/** Returns a function that sends statements to one engine, as `owner` unless another user is named. */
export function createExecutor(port: number, owner: { user: string; password: string }): StatementExecutor {
  return async (sql, { user = owner, settings = {}, data } = {}) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(settings)) query.set(name, String(value))
    if (data !== undefined) query.set('query', sql)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const sent = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      // No keep-alive, because the engine waits for open connections when it stops.
      agent: false,
      path: `/?${query.toString()}`,
      headers: { 'X-ClickHouse-User': user.user, 'X-ClickHouse-Key': user.password },
      timeout: STATEMENT_TIMEOUT_MS,
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error(`no response from the engine within ${STATEMENT_TIMEOUT_MS} ms`)))
    sent.on('response', (response) => {
      text(response).then(
        (body) => (response.statusCode === 200 ? resolve(body) : reject(new StatementError(body))),
        reject,
      )
    })
    sent.end(data ?? sql)
    return promise
  }
}
