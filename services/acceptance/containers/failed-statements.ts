import { queryEngine } from '../../testing/fetch-json.ts'

/** Reading the certificate fails on a server without one; there is no other way to check. */
const isOfCertificates = `log_comment = '{"watchhouse":"report/certificates"}'`

/** Records the statements of the product that fail on a server from now on. */
export const watchFailures = async (url: string): Promise<() => Promise<Record<string, unknown>[]>> => {
  const [began] = await queryEngine(url, 'SELECT toString(now64(6)) AS at')
  return async () => {
    await queryEngine(url, 'SYSTEM FLUSH LOGS')
    return queryEngine(
      url,
      `SELECT log_comment, any(exception) AS sentence FROM system.query_log
      WHERE http_user_agent = 'watchhouse' AND type IN ('ExceptionBeforeStart', 'ExceptionWhileProcessing')
        AND event_time_microseconds >= toDateTime64('${String(began?.at)}', 6) AND NOT (${isOfCertificates})
      GROUP BY log_comment`,
    )
  }
}
