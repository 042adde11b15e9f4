/** How every request of the product names itself; hosts log it, also for users who may not send a comment. */
export const userAgent = 'watchhouse'

/** Returns the `log_comment` of a statement: the part of the product that sends it. */
export const commentOf = (what: string): string => JSON.stringify({ watchhouse: what })

const commentBegins = commentOf('').slice(0, -'"}'.length)

/** What people write in the console is sent for them, so it counts as theirs. */
const ofPerson = commentOf('console')

/** In SQL over a query log: whether the product sent the statement of its own accord. */
export const isOwn = `((startsWith(log_comment, '${commentBegins}') OR http_user_agent = '${userAgent}') AND log_comment != '${ofPerson}')`

/** An SQL expression over a query log: the part of the product that sent the statement, such as `chart`. */
export const ownPurpose = `ifNull(nullIf(splitByChar('/', JSONExtractString(log_comment, 'watchhouse'))[1], ''), 'untagged')`
