import { askEngine } from '../../testing/ask.ts'

/** A server that was given no certificate fails when it is asked which it has, and there is no other way to know. */
const isOfCertificates = `log_comment = '{"watchhouse":"report/certificates"}'`

/** Statements of the product that fail on a server from now on. */
export const watchFailures = async (url: string): Promise<() => Promise<Record<string, unknown>[]>> => {
  const [began] = await askEngine(url, 'SELECT toString(now64(6)) AS at')
  return async () => {
    await askEngine(url, 'SYSTEM FLUSH LOGS')
    return askEngine(
      url,
      `SELECT log_comment, any(exception) AS sentence FROM system.query_log
      WHERE http_user_agent = 'watchhouse' AND type IN ('ExceptionBeforeStart', 'ExceptionWhileProcessing')
        AND event_time_microseconds >= toDateTime64('${String(began?.at)}', 6) AND NOT (${isOfCertificates})
      GROUP BY log_comment`,
    )
  }
}
