import { queryClickHouse } from '../../testing/fetch-json.ts'

/** Matches the statement that reads certificates, which is expected to fail on servers without a certificate. */
const isOfCertificates = `log_comment = '{"watchhouse":"report/certificates"}'`

/** Returns a function that lists the statements of the product that have failed on the server since this call. */
export const watchFailedStatements = async (url: string): Promise<() => Promise<Record<string, unknown>[]>> => {
  const [began] = await queryClickHouse(url, 'SELECT toString(now64(6)) AS at')
  return async () => {
    await queryClickHouse(url, 'SYSTEM FLUSH LOGS')
    return queryClickHouse(
      url,
      `SELECT log_comment, any(exception) AS sentence FROM system.query_log
      WHERE http_user_agent = 'watchhouse' AND type IN ('ExceptionBeforeStart', 'ExceptionWhileProcessing')
        AND event_time_microseconds >= toDateTime64('${String(began?.at)}', 6) AND NOT (${isOfCertificates})
      GROUP BY log_comment`,
    )
  }
}
