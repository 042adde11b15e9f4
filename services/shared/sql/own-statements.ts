/** How every request of the product names itself; hosts log it, also for users who may not send a comment. */
export const userAgent = 'watchhouse'

/** The `log_comment` of a statement: which part of the product asks. */
export const commentOf = (what: string): string => JSON.stringify({ watchhouse: what })

const commentBegins = commentOf('').slice(0, -'"}'.length)

/** What people write in the console is sent for them, so it counts as theirs. */
const ofPerson = commentOf('console')

/** In SQL over a query log: whether the product sent the statement of its own accord. */
export const isOwn = `((startsWith(log_comment, '${commentBegins}') OR http_user_agent = '${userAgent}') AND log_comment != '${ofPerson}')`

/** In SQL over a query log: the part of the product that sent it, such as `chart`, without what it asked about. */
export const ownPurpose = `ifNull(nullIf(splitByChar('/', JSONExtractString(log_comment, 'watchhouse'))[1], ''), 'untagged')`
