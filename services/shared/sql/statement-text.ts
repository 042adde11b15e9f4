/** Quotes a name as a ClickHouse identifier. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, String.raw`\$&`)}\``

/** Quotes a text as a ClickHouse string literal. */
export const quoteText = (text: string): string => `'${text.replace(/[\\']/g, String.raw`\$&`)}'`

/** The `User-Agent` of every request to a host. It is in the query log even if the user may not set `log_comment`. */
export const userAgent = 'watchhouse'

/** Returns the `log_comment` of a statement. `what` is the part of the product that sends it, such as `chart`. */
export const createLogComment = (what: string): string => JSON.stringify({ watchhouse: what })

const logCommentPrefix = createLogComment('').slice(0, -'"}'.length)

/** The `log_comment` of the SQL console, whose statements count as those of the user. */
const consoleLogComment = createLogComment('console')

/** SQL condition on `system.query_log` that matches statements of Watchhouse, except those of the SQL console. */
export const watchhouseStatementCondition = `((startsWith(log_comment, '${logCommentPrefix}') OR http_user_agent = '${userAgent}') AND log_comment != '${consoleLogComment}')`

/** The `log_comment` of a process, which has no such column. */
const processLogComment = "Settings['log_comment']"

/** SQL condition on `system.processes` that matches statements of Watchhouse, except those of the SQL console. */
export const watchhouseProcessCondition = watchhouseStatementCondition.replaceAll('log_comment', processLogComment)

/** The beginning of the query ids of Watchhouse, except those of the SQL console. Logs without comments have them. */
const queryIdPrefix = 'watchhouse-'

/** Returns a query id from a UUID. Statements of the SQL console belong to the user and get the UUID itself. */
export const createQueryId = (what: string, uuid: string): string =>
  what === 'console' ? uuid : `${queryIdPrefix}${uuid}`

/** Returns the SQL condition on a query id that matches statements of Watchhouse, except those of the SQL console. */
export const buildWatchhouseIdCondition = (queryId: string): string => `startsWith(${queryId}, '${queryIdPrefix}')`

/** SQL expression on `system.query_log`: the part of Watchhouse that sent the statement, such as `chart`. */
export const statementSourceExpression = `ifNull(nullIf(splitByChar('/', JSONExtractString(log_comment, 'watchhouse'))[1], ''), 'untagged')`
